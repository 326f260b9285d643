#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What Node.js does for a program, in V8 and in modules that are built in, is charged to the line
# that called it, also where that is in baseline code or is interpreted. Prints TAP; skips where
# sampling is not allowed, and without Node.js.
#
#   tests/e2e/node_calls.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs node python3
needs_sampling

cat >calls.js <<'JS'
const fs = require('fs');
function gather(chunks) {
  let body = Buffer.alloc(0);
  for (const c of chunks) {
    body = Buffer.concat([body, c]); // line 5
  }
  const length = body.length;
  return length;
}
function load(file) {
  const text = fs.readFileSync(file, 'utf8'); // line 11
  const table = JSON.parse(text); // line 12
  const n = table.length;
  if (n === 0)
    throw new Error('empty');
  return n;
}
const end = Date.now() + 1500;
const chunks = Array.from({ length: 700 }, () => Buffer.alloc(1500));
fs.writeFileSync('table.json', JSON.stringify(Array.from({ length: 3000 }, (_, i) => 'text' + i)));
let sum = 0;
while (Date.now() < end)
  sum += process.argv[2] === 'gather' ? gather(chunks) : load('table.json');
console.log(sum > 0);
JS

# is_in FUNCTION LINE… CAUSE: the first diagnosis of this cause is there.
is_in() {
	"$lode" report x.lode --format json 2>>err | python3 -c '
import json, sys
function, *lines, cause = sys.argv[1:]
found = [one for one in json.load(sys.stdin)["diagnoses"] if one["cause"] == cause]
if not found:
    sys.exit("there is no " + cause)
scope = found[0]["scope"]
if not (scope["short_function"] or "").startswith(function):
    print("it is in", scope["short_function"])
if str(scope["line"]) not in lines:
    print("it is at", scope["line"])' "$@" 2>&1
}

run() {
	"$lode" run -o x.lode -- node calls.js "$@" >out 2>err
	status=$?
}

run gather
check "below a module that is built in" "$(status_is 0)" "$(is_in gather 5 service-string)"
run load
check "a call that is not at the end of its function" "$(status_is 0)" "$(is_in load 11 12 service-builtin)"
echo "1..$number"
