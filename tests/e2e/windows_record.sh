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

echo 1..24

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
# A run-time that is not stepped handles SIGTRAP by itself. Its process had announced itself before it
# executed this program.
cat >runtime.c <<'EOF'
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
/* as in Go's programs */
__asm__(".section .note.go.buildid,\"a\",@note\n.align 4\n.long 4, 4, 4\n.asciz \"Go\"\n.byte 0\n"
	".long 0\n.previous\n.text\nback: mov $15, %eax\nsyscall\n");
void back(void);
struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; } action;
static void handle(int number) { (void)number; _exit(9); }
int main(void)
{
	action.handler = handle, action.flags = 0x04000000, action.restorer = back;
	syscall(SYS_rt_sigaction, SIGTRAP, &action, 0, 8);
	for (volatile long i = 0; i < 300000000; i++);
	return 3;
}
EOF
if gcc -O1 runtime.c -o runtime 2>/dev/null; then
	record -- bash -c '(exec ./runtime); exit $?'
	check "a run-time that is executed in an announced process" "$(status_is 3)"
else
	check "a run-time that is executed in an announced process # SKIP gcc makes none"
fi
# An emulator has loaded the library only in the program that it emulates.
if command -v valgrind >/dev/null; then
	echo 'int main(void) { for (volatile long i = 0; i < 20000000; i++); return 3; }' >emulated.c
	gcc -O1 emulated.c -o emulated
	record -- valgrind -q --tool=none ./emulated
	check "valgrind runs without windows" "$(status_is 3)" "$(holds [ "$(awk '{ print $2, $5 }' logs)" = "0 8" ])"
else
	check "valgrind runs without windows # SKIP it is not installed"
fi
# These end a program that has mapped what they have not foreseen.
for sanitizer in "gcc thread" "clang address" "clang memory" "clang thread"; do
	if "${sanitizer% *}" "-fsanitize=${sanitizer#* }" sanitized.c -o sanitized 2>/dev/null && ! ./sanitized 2>/dev/null; then
		record -- ./sanitized
		check "$sanitizer: runs without windows" "$(status_is 3)" "$(says "is built with a sanitizer")"
		record -- sh -c './sanitized; exit $?'
		check "$sanitizer: one that a program starts runs, too" "$(status_is 3)"
	else
		check "$sanitizer: runs without windows # SKIP none is made"
		check "$sanitizer: one that a program starts runs, too # SKIP none is made"
	fi
done

"$lode" memory record --windows 50% --keep-recording kept -o m.lode -- "$program" alone >out 2>err
status=$?
"$dump" kept/perf.data >logs 2>>err
check "lode memory record" "$(status_is 0)" "$(all_have_windows)"

"$lode" run --windows paths --keep-recording kept2 -o r.lode -- "$program" >out 2>err
status=$?
"$dump" kept2/perf.data >logs 2>>err
check "lode run" "$(status_is 0)" "$(holds grep -q '^[0-9]* [1-9]' logs)" \
	"$(says_not "missing or damaged")"
