#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Recordings with windows: of each process and thread, with all that can be recorded besides, and
# what is said where there are none. Prints TAP; skips where the kernel lets nobody sample.
#
#   tests/e2e/windows_record.sh LODE PROGRAM DUMP    windowed_program.c, dump_windows.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

program=$(realpath "$2")
dump=$(realpath "$3")
begin "$1"
needs_sampling
# A folder of its own, in which nothing may be left.
mkdir tmp
export TMPDIR=$work/tmp

# record OPTION… -- PROGRAM…: into x.data, with half of the time for windows; its output in "out",
# the logs in "logs".
record() {
	"$lode" record --windows 50% -o x.data "$@" >out 2>err &
	recorder=$!
	wait "$recorder"
	status=$?
	"$dump" x.data >logs 2>>err || echo "no logs" >>err
}
# Each process that printed its id has windows, and none of the logs is damaged.
all_have_windows() {
	local pid
	while read -r pid; do
		awk -v pid="$pid" '$1 == pid && $2 > 0 && $3 >= 8 { found = 1 }
			END { exit !found }' logs || echo "process $pid has no windows"
	done <out
	[ -s out ] || echo "no process said its id"
	! grep damaged logs
}
says() { grep -qF -- "$1" err || echo "does not say: $1"; }
says_not() { ! grep -F -- "$1" err; }

record -- "$program" alone
# As where there is no such library for this C library. Kernels without the events have timers.
if grep -q "windows are not recorded" err; then skip "$(cat err)"; fi
grep -q timer logs && has_timer=true || has_timer=false

echo 1..14

check "a program of one process" "$(status_is 0)" "$(all_have_windows)" "$(says " windows with ")"
check "the recording is private, and nothing is left" \
	"$(holds [ "$(stat -c %a x.data)" = 600 ])" "$(ls -A tmp)" \
	"$(find /dev/shm -maxdepth 1 -name "lode-windows-$recorder-*" 2>/dev/null)"

record -- "$program"
main=$(head -n 1 out)
check "threads, forked processes and executed programs" "$(status_is 0)" "$(all_have_windows)" \
	"$(holds [ "$(wc -l <out)" -eq 3 ])" \
	"$(awk -v pid="$main" '$1 == pid && $4 > 1 { found = 1 }
		END { if (!found) print "windows of one thread only" }' logs)"

fault=
if command -v perf >/dev/null; then
	perf script -i x.data >lines.txt 2>err || fault="perf script fails"
	[ -s lines.txt ] || fault="perf script prints nothing"
	perf report -i x.data --stdio >table.txt 2>err || fault="perf report fails"
fi
check "perf reads it" "$fault"

record -- "$program" killed
check "windows until the program is killed" "$(status_is 137)" "$(all_have_windows)"

record -- "$program" trapped
check "the end by SIGTRAP is explained" "$(status_is 133)" "$(says "'--windows off'")"

for options in "-g" "--call-graph dwarf" "-d --user-regs" "--no-switches" "-F 10000"; do
	# shellcheck disable=SC2086 # words
	record $options -- "$program" alone
	faults+=("$(status_is 0)" "$(all_have_windows)")
done
check "with call chains, registers, data addresses" "${faults[@]}"

record --start-stopped -- "$program" alone
check "none while sampling is stopped" "$(status_is 0)" \
	"$(awk '$2 > 0 { print "windows of process " $1 }' logs)"

(
	ulimit -n 200
	record -- "$program" many 250
	exit "$status"
)
status=$?
if $has_timer; then
	check "refused events are said # SKIP this kernel has none"
elif grep -q RLIMIT_NOFILE err; then
	check "refused events are said # SKIP too many processors for few descriptors"
else
	check "refused events are said" "$(status_is 0)" "$(says "refused their event: ")"
fi

echo 'int main(void) { for (volatile int i = 0; i < 300000000; i++); return 0; }' >static.c
if gcc -O1 -static static.c -o static 2>/dev/null; then
	record -- ./static
	check "a static program has an obstacle" "$(status_is 0)" "$(says "is linked statically")" \
		"$(holds [ "$(awk '{ print $2, $5 }' logs)" = "0 8" ])"
else
	check "a static program has an obstacle # SKIP gcc makes none"
fi

echo 'int main(void) { return 3; }' >sanitized.c
gcc -fsanitize=address sanitized.c -o sanitized 2>/dev/null && ./sanitized 2>/dev/null
if [ $? -eq 3 ]; then
	record -- ./sanitized
	check "a sanitized program runs without" "$(status_is 3)" "$(says "is built with a sanitizer")"
	record -- sh -c './sanitized; exit $?'
	check "one that a program starts runs, too" "$(status_is 3)"
else
	check "a sanitized program runs without # SKIP gcc makes none"
	check "one that a program starts runs, too # SKIP gcc makes none"
fi

"$lode" memory record --windows 50% --keep-recording kept -o m.lode -- "$program" alone >out 2>err
status=$?
"$dump" kept/perf.data >logs 2>>err
check "lode memory record" "$(status_is 0)" "$(all_have_windows)"

"$lode" run --windows paths --keep-recording kept2 -o r.lode -- "$program" >out 2>err
status=$?
"$dump" kept2/perf.data >logs 2>>err
check "lode run" "$(status_is 0)" "$(holds grep -q '^[0-9]* [1-9]' logs)" \
	"$(says_not "missing or damaged")"
