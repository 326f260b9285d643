#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Times of loops, of a recorded program that measures its own. Prints TAP; skips where the kernel
# lets nobody sample, and where there is no compiler.
#
#   tests/e2e/loop_times.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work XDG_CACHE_HOME=$work
needs gcc sqlite3
# Each function by itself.
gcc -O2 -g -fno-ipa-icf -fno-ipa-cp "$here/known_paces.c" -o paces
"$lode" record -F 2000 --user-regs -o x.data -- ./paces >truth 2>err ||
	skip "nothing can be sampled here: $(head -1 err)"
"$lode" import x.data -o x.lode >out 2>err
status=$?

# times FUNCTION CONDITION: of its loops that have one
times() {
	sqlite3 x.lode "SELECT b.iteration_ns FROM loop_bound b WHERE b.function = '$1'
		AND b.iteration_ns IS NOT NULL AND $2"
}

# The program's own time includes what samples cost, and other programs take caches from both.
is_near() {
	found=$(times "$1" "$2")
	expected=$(sed -n "s/^$1 //p" truth)
	awk -v a="${found:-0}" -v b="$expected" 'BEGIN { exit !(a > b / 2 && a < b * 2) }' ||
		echo "$1: '$found' ns, not $expected"
}
is_unknown() {
	found=$(times "$1" "$2")
	[ -z "$found" ] || echo "$1: $found ns, which cannot be known"
}

# is_part_of FUNCTION ROUNDS: the inner loop's time is that of the loop around it ÷ its rounds
is_part_of() {
	found=$(times "$1" is_innermost=1)
	around=$(times "$1" is_innermost=0)
	awk -v a="${found:-0}" -v b="${around:-0}" -v n="$2" \
		'BEGIN { exit !(a * n > b * 0.7 && a * n < b * 1.1) }' ||
		echo "$1: '$found' ns, of '$around'"
}

check 'the recording is imported' "$(status_is 0)"
check 'a loop in one long call has its time' "$(is_near long_call is_innermost=1)"
check 'so has a loop around short ones' "$(is_near nested is_innermost=0)"
check 'which it carries to them' "$(is_part_of nested 5000)"
check 'calls that begin again, and walks over lists have none' \
	"$(is_unknown short_call is_innermost=1)" "$(is_unknown walk is_innermost=1)"
check 'the machine is described' \
	"$(holds test "$(sqlite3 x.lode "SELECT count(*) FROM meta WHERE key IN
		('cycles_per_ns', 'read_rate_memory', 'write_rate_memory') AND value > 0")" = 3)"

# of a processor that a test names nothing is measured
measured=$(sqlite3 x.lode "SELECT value > 0 FROM meta WHERE key = 'core_figures'")
expected=1
[ -z "${LODE_PROCESSOR:-}" ] || expected=0
check 'and its core' "$(holds test "$measured" = "$expected")"

# Registers and the top of the stack, by which callers are known.
"$lode" run -F 2000 --probes off -o x.lode -- ./paces callers >truth 2>err
status=$?
check 'a program whose loops call is recorded' "$(status_is 0)"
check 'a loop around short calls has its time' "$(is_near caller 'iteration_ns > 100')"
check 'so has one in a long function that has no sample' "$(is_near large_caller 'iteration_ns > 100')"
check 'one that no register counts has none, nor one that begins again' \
	"$(is_unknown walking_caller 'iteration_ns > 100')" "$(is_unknown short_caller 'iteration_ns > 100')"

"$lode" run -F 2000 --probes off -o x.lode -- ./paces carried inward >truth 2>err
status=$?
check 'a program with short loops of known rounds is recorded' "$(status_is 0)"
check 'their times are carried from the loop around' \
	"$(is_near carried_300 is_innermost=1)" "$(is_near carried_500 is_innermost=1)" "$(is_near carried_2000 is_innermost=1)"
check 'rounds that vary, ways out, ways around and recursion have none' \
	"$(is_unknown varying is_innermost=1)" "$(is_unknown early is_innermost=1)" \
	"$(is_unknown sometimes is_innermost=1)" "$(is_unknown recursive is_innermost=1)"
echo "1..$number"
