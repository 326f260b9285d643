#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Time in the kernel by what entered it, of a program that knows how much each took. Prints TAP;
# skips where the kernel does not let its own code be sampled, and where there is no compiler or no
# sqlite3.
#
#   tests/e2e/kernel_entries.sh LODE PROGRAMS      PROGRAMS: the folder of kernel_entries.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs sqlite3 gcc
needs_sampling
gcc -g -O2 "$programs/kernel_entries.c" -o known 2>err || skip "gcc makes no program"
"$lode" run --kernel --keep-recording=kept -F 4000 -o x.lode -- ./known 20 >out 2>err ||
	skip "$(tail -n 1 err)"
read -r written touched pages <out

# query PROFILE SQL
query() { sqlite3 "$1" "$2" 2>>err; }
# entered PROFILE CONDITION: microseconds in the kernel by events, at functions
entered() {
	query "$1" "SELECT coalesce(sum(value), 0) / 1000 FROM cost
		JOIN event ON event.id = cost.event JOIN instruction ON instruction.id = cost.instruction
		JOIN function ON function.id = instruction.function WHERE event.name LIKE 'kernel:%' AND $2"
}
# between LEAST VALUE MOST WHAT
between() {
	awk -v least="$1" -v value="$2" -v most="$3" \
		'BEGIN { exit !(value != "" && value + 0 >= least && value + 0 <= most) }' ||
		echo "$4: $2 is not between $1 and $3"
}
share() { awk -v part="$1" -v all="$2" 'BEGIN { print (all > 0 ? 100 * part / all : -1) }'; }

echo 1..5

calls=$(entered x.lode "event.name = 'kernel:syscall:write' AND function.name LIKE '%write'")
touches=$(entered x.lode "event.name = 'kernel:page-fault' AND function.name IN ('touch', 'main')")
all=$(entered x.lode "event.name IN ('kernel:syscall:write', 'kernel:page-fault', 'kernel:syscall:madvise')")
truth=$(share "$written" "$((written + touched))")
check "the time of writes and of page faults, where they are" \
	"$(between "$(awk "BEGIN { print $truth - 15 }")" "$(share "$calls" "$all")" \
		"$(awk "BEGIN { print $truth + 15 }")" "writes")" \
	"$(between 20 "$(share "$touches" "$all")" 100 "faults")" \
	"$(between 95 "$(share "$(awk "BEGIN { print $calls + $touches }")" \
		"$(entered x.lode "event.name IN ('kernel:syscall:write', 'kernel:page-fault')")")" 100 \
		"at the right functions")"
check "they are attributes of these instructions" \
	"$(between 3 "$(query x.lode "SELECT count(*) FROM attribute WHERE name IN
		('kernel:page-fault', 'kernel:syscall:write', 'kernel:syscall:madvise')")" 3 attributes)"
check "page faults are counted" \
	"$(between "$pages" "$(query x.lode "SELECT total FROM event WHERE name = 'page-faults'")" \
		"$((pages + 3000))" faults)"

# As on another machine, where the kernel's functions have no names: the constant before the system
# call says which it is, and page faults cannot be told from interrupts.
release=$(uname -r)
LC_ALL=C sed "s/${release//./\\.}/$(echo "$release" | tr '0-9' '1-90')/g" kept/perf.data >other.data
"$lode" import other.data -o y.lode >out 2>err
status=$?
check "without the kernel's symbols" "$(status_is 0)" \
	"$(between 90 "$(share "$(entered y.lode "event.name = 'kernel:syscall:write'")" "$calls")" 110 \
		writes)" \
	"$(between 90 "$(share "$(entered y.lode "event.name = 'kernel:unknown'")" "$touches")" 150 \
		faults)"

# Without lines of its own a program is in no file of the library that it calls.
cat >bytes.c <<'END'
#include <unistd.h>
int main(void)
{
	char byte;
	for (int i = 0; i < 5000000; i++)
		if (read(0, &byte, 1) != 1)
			return 1;
	return 0;
}
END
gcc -O2 -o bytes bytes.c
"$lode" run -o z.lode -- ./bytes </dev/zero >out 2>err
status=$?
check "a place without lines" "$(status_is 0)" \
	"$("$lode" report z.lode 2>>err >screen; grep -qE '^D1 .*(system calls|kernel)' screen || cat screen)" \
	"$("$lode" report z.lode --format json 2>>err | python3 -c 'import json, sys
for one in json.load(sys.stdin)["diagnoses"]:
    place = one["scope"]
    if place.get("function") == "main" and place.get("file"):
        print("main is in", place["file"])')"
