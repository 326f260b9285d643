#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory --sharing` says of threads whose sharing is known: by samples alone. Prints TAP;
# skips where the kernel lets nobody sample, and where there is no compiler.
#
#   tests/e2e/sharing.sh LODE PROGRAMS      PROGRAMS: the folder of shared_lines.c
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

lode=$(realpath "$1")
programs=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 1
export LC_ALL=C.UTF-8 HOME=$work
unset LD_PRELOAD DEBUGINFOD_URLS
touch err

if ! refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
if ! gcc -g -O2 -pthread "$programs/shared_lines.c" -o shared 2>err; then
	echo "1..0 # SKIP there is no gcc"
	exit 0
fi

# record CASE ROUNDS
record() {
	"$lode" memory record -F 4000 -o x.lode -- ./shared "$1" "$2" >out 2>err
	status=$?
}

# Lines with most of the program's weight, from their accesses in CSV: a line of words each.
lines() {
	"$lode" memory x.lode --sharing --format csv "$@" 2>>err |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["line_share"] > 0.3 {
				print $at["line_sharing"], $at["line_threads"], $at["line_storing"],
					$at["offset"] "+" $at["bytes"], "thread", $at["thread"],
					$at["object"], $at["function"] }' | sort
}

# says EXPECTED FOUND
says() { [ "$1" = "$2" ] || echo "expected '$1', found '$2'"; }

echo 1..5

record false 40000000
check "two counters in a line" "$(status_is 0)" \
	"$(says "false 2 2 0+8 thread 1 together.hits hit
false 2 2 8+8 thread 2 together.misses miss" "$(lines)")" \
	"$("$lode" memory x.lode --sharing --format json 2>>err | grep -q '"sharing":"false"' || echo "not in JSON")" \
	"$("$lode" memory x.lode --sharing 2>>err | grep -qE '^[0-9.]+ % ±[0-9.]+ .* false  +0x[0-9a-f]+ +2 threads, both store' || echo "not in text")"

# Lines of 16 bytes still hold both, and the bytes are no others.
check "lines of another size" "$(says "false 2 2 0+8 thread 1 together.hits hit
false 2 2 8+8 thread 2 together.misses miss" "$(lines --granularity 16)")" \
	"$("$lode" memory x.lode --sharing --granularity word >out 2>err && echo "a line of 8 bytes")"

record padded 40000000
check "the same counters, each in its line" "$(status_is 0)" "$(says "" "$(lines)")"

record true 8000000
check "one atomic counter" "$(status_is 0)" \
	"$(says "true 2 2 0+8 thread 1 atomic.total add
true 2 2 0+8 thread 2 atomic.total add" "$(lines)")"

record handed 40000000
check "an array that one thread fills, and then the other reads" "$(status_is 0)" \
	"$("$lode" memory x.lode --sharing --format csv 2>>err | grep -F 'array[]')" \
	"$("$lode" memory x.lode --sharing 2>>err | grep -q 'lines\? (.* of weight) that threads used one after the other' || echo "not told")"
