#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Branches of a traced program are predicted: what chance decides is mispredicted half of the time,
# what has a period is not, and callgrind counts the same. Prints TAP; skips where there is neither
# qemu-x86_64 nor valgrind.
#
#   tests/e2e/branches.sh LODE BRANCHES
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

program=$(realpath "$2")
begin "$1"

# events_of TRACE MODEL EVENT FUNCTION; the trace is replayed once for each event
events_of() {
	local table=$1.$2.$3
	[ -s "$table" ] || "$lode" trace simulate "$1" --branches "$2" --event "$3" --by function \
		--format csv >"$table" 2>err
	awk -F, -v name="$4 (branches)" '$1 == name { sum += $2 } END { printf "%d\n", sum }' "$table"
}

# is_between LOW VALUE HIGH
is_between() { [ "$1" -le "$2" ] && [ "$2" -le "$3" ]; }

if command -v qemu-x86_64 >/dev/null; then
	"$lode" trace record --level fast --with qemu -o x.rps -- "$program" >out 2>err
	status=$?
	for model in tage callgrind; do
		check "$model: what chance decides is mispredicted half of the time" "$(status_is 0)" \
			"$(holds is_between 9400 "$(events_of x.rps $model branch-miss by_chance)" 10600)"
		check "$model: a period of seven is learned" \
			"$(holds is_between 0 "$(events_of x.rps $model branch-miss in_loops)" 200)"
	done
	check "the history of targets tells the next one" \
		"$(holds is_between 0 "$(events_of x.rps tage branch-miss in_turn)" 200)" \
		"$(holds is_between 20000 "$(events_of x.rps callgrind Bim in_turn)" 20000)"

	"$lode" run --trace --report report.txt -o run.lode -- "$program" >out 2>err
	status=$?
	check "lode run --trace has mispredicted branches" "$(status_is 0)" \
		"$(holds grep -q mispredicted report.txt)" \
		"$("$lode" report run.lode --findings >findings.txt && holds grep -q branch-miss findings.txt)"

	"$lode" trace simulate x.rps --branches oracle >out 2>err
	status=$?
	check "an unknown predictor is told" "$(status_is 2)" "$(holds grep -q oracle err)"
fi

# callgrind FUNCTION: its "Bc Bcm Bi Bim"
of_callgrind() {
	awk -v name="$1" '
		/^fn=/ { is_in = $0 ~ " " name "$" || $0 == "fn=" name; next }
		/^(calls|jump|jcnd)=/ { is_other = 1; next }
		/^0x/ && is_other { is_other = 0; next }
		/^0x/ && is_in { for (i = 4; i <= 7; i++) sum[i] += $i }
		END { print sum[4] + 0, sum[5] + 0, sum[6] + 0, sum[7] + 0 }' callgrind.out
}

# is_callgrinds FUNCTION: as many branches, and mispredictions but for what came before
is_callgrinds() {
	local event values=()
	for event in Bc Bcm Bi Bim; do
		values+=("$(events_of y.rps callgrind $event "$1")")
	done
	# shellcheck disable=SC2046 # words
	set -- $(of_callgrind "$1")
	echo "callgrind $*, lode ${values[*]}" >>err
	[ "${values[0]}" -gt 1000 ] && [ "${values[0]}" = "$1" ] && [ "${values[2]}" = "$3" ] &&
		is_between $(($2 - 16)) "${values[1]}" $(($2 + 16)) &&
		is_between $(($4 - 4)) "${values[3]}" $(($4 + 4))
}

if command -v valgrind >/dev/null; then
	"$lode" trace record --level fast --with lackey -o y.rps -- "$program" >out 2>err
	valgrind -q --tool=callgrind --branch-sim=yes --dump-instr=yes --compress-strings=no \
		--compress-pos=no --callgrind-out-file=callgrind.out "$program" >out 2>err
	for name in by_chance in_loops in_turn; do
		check "callgrind counts the same branches in $name" "$(holds is_callgrinds $name)"
	done
fi

[ $number -gt 0 ] || {
	echo "1..0 # SKIP there is neither qemu-x86_64 nor valgrind"
	exit 0
}
echo "1..$number"
