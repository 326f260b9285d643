#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Times of loops in short calls, by breakpoints, of a program that measures its own. Prints TAP;
# skips where breakpoints do not work, and where there is no compiler.
#
#   tests/e2e/loop_turns.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work XDG_CACHE_HOME=$work
needs gcc sqlite3
gcc -O2 -g -fno-tree-vectorize "$here/known_turns.c" -o turns

time_of() {
	sqlite3 x.lode "SELECT l.iteration_ns FROM loop l JOIN loop_bound b ON b.loop = l.id
		WHERE b.function = '$1' AND l.is_innermost AND l.iteration_source = 'probed'"
}

# On a busy machine the program runs seldom while it is asked: again, with more time.
for seconds in 1 2 4 6; do
	"$lode" run --probes 10% -o x.lode -- ./turns $seconds hash divide >truth 2>err
	status=$?
	[ -e x.lode ] || skip "sampling is not allowed here"
	"$lode" info x.lode >about
	grep -q 'breakpoint hits' about || skip "breakpoints do not work here"
	[ -z "$(time_of hash)" ] || [ -z "$(time_of divide)" ] || break
done

hits=$(sed -n 's/^ *breakpoint hits *\([0-9,]*\).*/\1/p' about | tr -d ,)
[ "${hits:-0}" -ge 1000 ] || skip "the machine is too busy for breakpoints"

# The program's own time has what samples cost, and other programs take caches and cores from both.
is_near() {
	found=$(time_of "$1")
	expected=$(sed -n "s/^$1 //p" truth)
	awk -v a="${found:-0}" -v b="$expected" 'BEGIN { exit !(a > b / 2 && a < b * 2) }' ||
		echo "$1: '$found' ns, not $expected"
}
check 'the program is recorded' "$(status_is 0)"
check 'a loop in calls of a microsecond has its time, by breakpoints' "$(is_near hash)"
check 'so has one of divisions' "$(is_near divide)"
check 'the share of such loops is told' "$(holds grep -q 'loops with a time' about)"
echo "1..$number"
