#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Data addresses and page faults of what `lode run` recorded, by a program whose accesses and first
# touches are known. Prints TAP; skips where the kernel lets nobody sample, and where there is no
# compiler or no sqlite3.
#
#   tests/e2e/run_memory.sh LODE PROGRAMS      PROGRAMS: the folder of run_memory.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs sqlite3 gcc
needs_sampling
gcc -g -O2 "$programs/run_memory.c" -o known 2>err || skip "gcc makes no program"

# query PROFILE SQL
query() { sqlite3 "$1" "$2" 2>>err; }
# weight PROFILE EVENT CONDITION: of memory samples
weight() {
	query "$1" "SELECT coalesce(sum(memory_sample.weight), 0) FROM memory_sample
		JOIN event ON event.id = memory_sample.event
		LEFT JOIN data_object ON data_object.id = memory_sample.object WHERE event.name = '$2' AND $3"
}
# between LEAST VALUE MOST WHAT
between() {
	awk -v least="$1" -v value="$2" -v most="$3" \
		'BEGIN { exit !(value != "" && value + 0 >= least && value + 0 <= most) }' ||
		echo "$4: $2 is not between $1 and $3"
}
share() { awk -v part="$1" -v all="$2" 'BEGIN { print (all > 0 ? 100 * part / all : -1) }'; }

echo 1..5

"$lode" run -F 2000 -o x.lode -- ./known 1000 >out 2>err
status=$?
read -r pages _ <out
check "all page faults are counted" "$(status_is 0)" \
	"$(between "$pages" "$(query x.lode "SELECT total FROM event WHERE name = 'page-faults'")" \
		"$((pages + 3000))" "faults")"

large=$(weight x.lode page-faults "data_object.variable = 'large'")
small=$(weight x.lode page-faults "data_object.variable = 'small'")
check "they are charged to the arrays, 70 : 30" \
	"$(between 62 "$(share "$large" "$(awk "BEGIN { print $large + $small }")")" 78 "of the larger")" \
	"$(between 85 "$(share "$(awk "BEGIN { print $large + $small }")" "$pages")" 110 "of both")"
check "and to the instruction that faulted" \
	"$(between 85 "$(share "$(query x.lode "SELECT sum(value) FROM cost
		JOIN event ON event.id = cost.event JOIN instruction ON instruction.id = cost.instruction
		JOIN function ON function.id = instruction.function
		WHERE event.name = 'page-faults' AND function.name IN ('touch', 'main')")" "$pages")" 110 touch)"

all=$(weight x.lode cpu-clock "1")
check "'lode memory' has the data of the samples" \
	"$(between 80 "$(share "$(weight x.lode cpu-clock "data_object.variable = 'summed'")" \
		"$(weight x.lode cpu-clock "data_object.mapping IS NOT NULL")")" 100 "summed")" \
	"$("$lode" memory x.lode --by object >listed 2>err || cat err)" \
	"$(between 1000 "$all" 1e12 "weight")"

"$lode" run --no-registers -o y.lode -- ./known 20 >out 2>err
"$lode" memory y.lode >listed 2>err
status=$?
check "--no-registers: none" "$(status_is 1)" "$(grep -q 'no data addresses' err || cat err)"
