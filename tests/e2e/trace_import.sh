#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs are traced in qemu and become profiles, in two steps and in one: every execution has its
# inflow, misses are those that the simulation counts, and data addresses are named. Prints TAP;
# skips where there is no qemu-x86_64.
#
#   tests/e2e/trace_import.sh LODE THREADS FIXED      the programs
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

threads=$(realpath "$2")
fixed=$(realpath "$3")
begin "$1"

needs qemu-x86_64

# fact PROFILE SECTION NAME: the value in `lode info`.
fact() {
	"$lode" info "$1" --format csv |
		awk -F, -v section="$2" -v name="$3" '$1 == section && $2 == name { print $3 }'
}

all_flow_is_known() {
	local executions equal
	executions=$(fact "$1" contents executions)
	equal=$(fact "$1" quality "flow conservation")
	[ "$executions" -gt 1000 ] && [ "$executions" = "$equal" ]
}

"$lode" trace record --level fast --with qemu -o threads.rps -- "$threads" >out 2>err
status=$?
is_recorded() { [ $status = 0 ] && [ -s threads.rps ]; }
check "a program with threads is traced" "$(holds is_recorded)"

"$lode" import threads.rps --simulate d1=4K:4:64,i1=4K:4:64,l2=64K:8:64 -o threads.lode >out 2>err
check "all flow is known, of threads too" "$(holds all_flow_is_known threads.lode)"

has_all_threads() {
	[ "$("$lode" memory threads.lode --by thread --event l1d-miss --format csv |
		tail -n +2 | wc -l)" -ge 5 ]
}
check "each thread has misses of its own" "$(holds has_all_threads)"

# A part in place and the same part as a trace of its own are one profile, but for what names them.
part() { grep -v -e '^profile,' -e '^origin,' <("$lode" info "$1" --format csv); }
"$lode" trace cut threads.rps --from 60001 --count 50000 --level fast -o part.rps >out 2>err
"$lode" import threads.rps --from 60001 --count 50000 --simulate d1=4K:4:64 -o in_place.lode >out 2>err
"$lode" import part.rps --simulate d1=4K:4:64 -o part.lode >out 2>err
is_same_part() {
	[ "$(fact part.lode contents executions)" -gt 1000 ] &&
		[ "$(part in_place.lode)" = "$(part part.lode)" ]
}
check "a part that was cut out is what it is in place" "$(holds is_same_part)"

# The first reference of some of these is an access, and its instruction was before them.
all_parts() {
	local from
	for from in $(seq 60001 60010); do
		"$lode" import threads.rps --from "$from" --count 2000 --simulate d1=4K:4:64 \
			-o from.lode >out 2>err || return 1
	done
	"$lode" memory from.lode --by object --event l1d-miss --format csv | grep ',value,' >/dev/null
}
check "a part may begin with an access" "$(holds all_parts)"

is_simulated() {
	local cache misses
	for cache in d1 i1 l2; do
		misses=$("$lode" trace simulate threads.rps \
			--cache d1=4K:4:64,i1=4K:4:64,l2=64K:8:64 |
			awk -v cache=$cache '$1 == cache { gsub(",", "", $3); print $3 }')
		[ -n "$misses" ] || return 1
		[ "$misses" = "$(events_of $cache)" ] || return 1
	done
}
events_of() {
	"$lode" info threads.lode --format csv | awk -F, -v start="sim-$1-" '
		$1 == "event" && index($2, start) == 1 { sum += $3 }
		END { print sum }'
}
check "misses are those of the simulation alone" "$(holds is_simulated)"

"$lode" run --trace --simulate d1=4K:4:64 --report report.txt -o run.lode -- "$fixed" >out 2>err
status=$?
in_one_step() {
	[ $status = 0 ] && all_flow_is_known run.lode && grep -q D1 report.txt &&
		"$lode" report run.lode --findings | grep -q 'l1d-miss'
}
check "lode run --trace reports sequences that miss" "$(holds in_one_step)"

names_the_array() {
	"$lode" memory run.lode --by object --event l1d-miss --format csv |
		sed -n 2p | grep -q 'cells'
}
check "most misses are to the array that is walked over" "$(holds names_the_array)"

"$lode" run --trace --simulate d1=4K:4:64 --keep-recording kept --report report.txt -o kept.lode -- "$fixed" \
	>out 2>err
is_the_same() {
	"$lode" export run.lode -o run.flow && "$lode" export kept.lode -o kept.flow &&
		[ "$(wc -l <run.flow)" -gt 10 ] && cmp run.flow kept.flow &&
		cmp <("$lode" memory run.lode --by object --format csv) \
			<("$lode" memory kept.lode --by object --format csv) && [ -s kept/trace.rps ]
}
check "a trace that is kept gives the same profile" "$(holds is_the_same)"

"$lode" run --trace --simulate d1=4K:4:64 --report report.txt -o exit.lode -- sh -c 'exit 5' \
	>out 2>err
status=$?
passes_status_on() { [ $status = 5 ]; }
check "the program's exit status is lode's" "$(holds passes_status_on)"

echo "1..$number"
