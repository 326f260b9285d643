#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The bounds of loops whose instructions are known, of counted executions, on the core that stands for
# recordings that do not say theirs. Prints TAP; skips where there is no valgrind or assembler.
#
#   tests/e2e/loops.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work
needs gcc sqlite3 valgrind
cp "$here/known_loops.s" .
gcc -no-pie known_loops.s -o loops
valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes \
	--callgrind-out-file=callgrind.out ./loops >out 2>err
status=$?
[ $status -eq 0 ] && {
	"$lode" import callgrind.out -o x.lode >>out 2>err
	status=$?
}

# figures FUNCTION: recurrence, the unit that is busiest by the view, and what is not known.
figures() {
	sqlite3 -separator ' ' x.lode "SELECT l.iterations, l.instructions,
		ifnull(l.recurrence, '-'), ifnull(l.recurrence_cycles, 'unknown'),
		round(b.unit_cycles, 2), l.unmodelled, l.calls
		FROM loop l JOIN loop_bound b ON b.loop = l.id WHERE b.function = '$1'"
}

# is_known FUNCTION FIGURES
is_known() {
	found=$(figures "$1")
	[ "$found" = "$2" ] || echo "$1: $found, not $2"
}

check 'the program is counted' "$(status_is 0)"
check 'recurrences and units of known loops' \
	"$(is_known sum '1000.0 6.0 fp 16.0 2.0 0.0 0.0')" \
	"$(is_known merges '1000.0 4.0 merge 4.0 1.0 0.0 0.0')" \
	"$(is_known list '1000.0 3.0 load 5.0 1.0 0.0 0.0')" \
	"$(is_known counter '1000.0 3.0 store 6.0 1.0 0.0 0.0')" \
	"$(is_known quotients '1000.0 4.0 alu 1.0 8.0 0.0 0.0')" \
	"$(is_known choices '1000.0 5.0 cmov 3.0 1.0 0.0 0.0')" \
	"$(is_known loads '1000.0 8.0 alu 1.0 3.0 0.0 0.0')"

# Where nothing can be known: of rep movsb, of called functions, of ways, of too long iterations.
is_like() {
	found=$(figures "$1")
	grep -Eqx "$2" <<<"$found" || echo "$1: $found, not $2"
}
check 'what is not known is said' \
	"$(is_like copies '1000.0 [0-9.]+ alu [0-9.]+ [0-9.]+ 1.0 0.0')" \
	"$(is_like calls '1000.0 3.0 - 0.0 1.0 0.0 1.0')" \
	"$(is_like ways '1000.0 [0-9.]+ - unknown [0-9.]+ 0.0 0.0')" \
	"$(is_like long '10.0 10003.0 - unknown 25[0-9.]+ 0.0 0.0')"

[ "$(sqlite3 x.lode "SELECT value FROM meta WHERE key = 'core'")" = other ]
check 'a recording that does not say its processor has the core for all' "$(holds [ $? -eq 0 ])"

"$lode" annotate x.lode function sum >annotated 2>errors
"$lode" info x.lode >summary
"$lode" annotate x.lode function sum --format json >sum.json
check 'annotate and info show them' \
	"$(holds grep -q 'loop, cycles on other: recurrence fp 16, next alu 1; branch 1, float 2, width 1.25$' annotated)" \
	"$(holds grep -q 'innermost loops .* cycles of other; the longest is a recurrence in' summary)" \
	"$(holds grep -q '"loop":{"core":"other","is_innermost":true,"iterations":1000' sum.json)"

echo "1..$number"
