#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Functions and lines of a Python program that measures its own time. Prints TAP; skips where the
# kernel lets nobody sample, and where there is no CPython 3.11.
#
#   tests/e2e/python.sh LODE SOURCES      SOURCES: the folder of known_lines.py
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
export HOME=$work

needs python3
needs_sampling
for python in /usr/bin/python3 python3; do
	[ "$("$python" -c 'import sys; print(sys.version_info[:2])' 2>err)" = "(3, 11)" ] && break
	[ "$python" = /usr/bin/python3 ] || skip "no CPython 3.11"
done
cp "$sources/known_lines.py" app.py

echo 1..4

"$lode" run -o app.lode -- "$python" app.py truth >out 2>err
status=$?
"$lode" report app.lode --functions --format json >functions.json 2>>err
"$lode" report app.lode --lines --format json >lines.json 2>>err
check "shares" "$(status_is 0)" \
	"$(python3 "$sources/known_lines_check.py" truth functions.json lines.json 2>&1)"

"$lode" report app.lode >out 2>err
status=$?
check "the first screen" "$(status_is 0)" "$(holds grep -qE '^ *[0-9.]+ %  app.py:14 in Table.find' out)"

"$lode" report app.lode --callers Table.find >out 2>err
status=$?
check "callers" "$(status_is 0)" "$(holds grep -q 'app.py' out)"

"$lode" run --native -o native.lode -- "$python" app.py truth >out 2>err
"$lode" report native.lode --functions --format json >functions.json 2>>err
status=$?
check "without the script" "$(status_is 0)" "$(grep -q Table.find functions.json && echo 'Table.find is there')"
