#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode record` records, with real programs, threads and signals, read by perf. Prints TAP;
# skips where the kernel lets nobody sample, and what perf would have to read where there is none.
#
#   tests/e2e/record.sh LODE BUSY       BUSY: busy_program.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

busy=$(realpath "$2")
begin "$1"

needs_sampling
if ! command -v perf >/dev/null; then
	skip "perf is not there to read the recordings"
fi

says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
is_at_least() { [ "$1" -ge "$2" ] || echo "$3: $1, at least $2 expected"; }
is_at_most() { [ "$1" -le "$2" ] || echo "$3: $1, at most $2 expected"; }

# The samples that lode says it took.
told() { sed -nE 's/^lode record: ([0-9,]+) samples of .*/\1/p' err | tr -d ,; }

# perf reads the file without a word on standard error, and finds what lode says. Under sanitizers,
# where tests are short, what lode does counts: what it writes is the same as elsewhere.
perf_agrees() {
	[ -z "${LODE_SHORT_TESTS:-}" ] || return 0
	perf script -i x.data -F comm,tid,time,event,ip >samples 2>complaint || echo "perf script fails"
	perf report -i x.data --stdio >functions 2>>complaint || echo "perf report fails"
	[ ! -s complaint ] || echo "perf complains: $(head -n 1 complaint)"
	# Looks at threads that wait, and commands, are no samples of the program.
	[ "$(told)" = "$(grep -Evc ' (waiting|script): ' samples)" ] ||
		echo "lode says '$(told)' samples, perf '$(grep -Evc ' (waiting|script): ' samples)'"
}

# After perf_agrees.
names_functions() {
	[ -n "${LODE_SHORT_TESTS:-}" ] || is_at_least "$(grep -cw spin functions)" 1 "functions 'spin'"
}

# Milliseconds between the first and the last sample, and the longest pause between two.
span() { perf script -i x.data -F time 2>/dev/null | tr -d : | awk '
	NR == 1 { first = $1 } { last = $1 } END { printf "%d", (last - first) * 1000 }'; }
pause() { perf script -i x.data -F time 2>/dev/null | tr -d : | awk '
	NR > 1 && $1 - last > longest { longest = $1 - last } { last = $1 }
	END { printf "%d", longest * 1000 }'; }

# record OPTION… -- COMMAND…: to its end; sets $status.
record() {
	"$lode" record -o x.data "$@" >out 2>err
	status=$?
}

# In a process group of its own, where SIGINT is not ignored; sets $pid. finish() sets $took to the
# milliseconds until its end: on a busy machine everything takes longer.
start() {
	rm -f x.data
	began=$(date +%s%3N)
	set -m
	"$lode" record -o x.data "$@" >out 2>err &
	pid=$!
	set +m
	until [ -e x.data ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
}

finish() {
	wait "$pid" 2>/dev/null
	status=$?
	took=$(($(date +%s%3N) - began))
}

echo 1..23

record -F 1000 -e cpu-clock:u -- "$busy" 150
check "threads, a child and what it executes are sampled" "$(status_is 5)" "$(perf_agrees)" \
	"$(says '^lode record: go on with .lode import x.data')" \
	"$(is_at_least "$(perf script -i x.data -F tid 2>/dev/null | sort -u | wc -l)" 4 threads)" \
	"$(is_at_least "$(perf script -i x.data -F comm 2>/dev/null | grep -c '^ *sh')" 1 'samples of sh')" \
	"$(names_functions)"

record -e cpu-clock:u -- "$busy" 20
check "an old recording is kept" "$(status_is 5)" "$([ -s x.data.old ] || echo "no x.data.old")" \
	"$([ -z "$(ls -- *.tmp 2>/dev/null)" ] || echo "a temporary file")"

record -e cpu-clock:u -e page-faults:u -- "$busy" 60
check "several events" "$(status_is 5)" "$(perf_agrees)" \
	"$(says ' samples of cpu-clock:u and page-faults:u, ')" \
	"$(is_at_least "$(perf script -i x.data -F event 2>/dev/null | grep -c page-faults:u)" 3 faults)" \
	"$(is_at_least "$(perf script -i x.data -F event 2>/dev/null | grep -c cpu-clock:u)" 10 ticks)"

record -e page-faults:u -c 7 -d -- "$busy" 10
sevenths=$(told)
record -e page-faults:u -c 1 -d -- "$busy" 10
check "a period is one: every seventh fault is a seventh of the faults" "$(perf_agrees)" \
	"$(is_at_most "$((sevenths * 4))" "$(told)" 'faults')" \
	"$(is_at_least "$((sevenths * 14))" "$(told)" 'faults')" \
	"$(is_at_least "$(perf script -i x.data -F addr 2>/dev/null | grep -cE '[0-9a-f]{6}')" 10 addresses)"

record -e cpu-clock:u --user-regs -- "$busy" 60
perf script -i x.data -F ip,uregs 2>/dev/null >registers
check "user registers, the instruction pointer among them" "$(perf_agrees)" \
	"$(is_at_least "$(wc -l <registers)" 10 'samples with registers')" \
	"$(awk '{ ip = $1; sub(/^.* IP:0x/, ""); if ($1 != ip) bad++ } END { if (bad) print bad " differ" }' registers)"

set -m
"$busy" 60000 calm >/dev/null &
target=$!
set +m
sleep 0.3
record -e cpu-clock:u -p $target --duration 0.5
check "an attached process, its threads and its files" "$(status_is 0)" "$(perf_agrees)" \
	"$(is_at_least "$(perf script -i x.data -F tid 2>/dev/null | sort -u | wc -l)" 3 threads)" \
	"$(is_at_most "$(span)" 10000 milliseconds)" \
	"$(names_functions)"

start -e cpu-clock:u -p $target
sleep 0.3
kill -INT $pid
finish
check "Ctrl-C detaches" "$(status_is 0)" "$(perf_agrees)" \
	"$(kill -0 $target 2>/dev/null || echo "the process has ended")"

start -e cpu-clock:u -p $target
sleep 0.3
kill -KILL -- -$target
finish
check "the end of an attached process ends the recording" "$(status_is 0)" "$(perf_agrees)"
wait $target 2>/dev/null

start -e cpu-clock:u --start-stopped -- "$busy" 250 alone calm
sleep 0.4
kill -USR1 $pid
sleep 0.5
kill -USR1 $pid
finish
check "started stopped, SIGUSR1 starts and stops" "$(status_is 5)" "$(perf_agrees)" \
	"$(is_at_least "$(told)" 10 samples)" "$(is_at_most "$(span)" $((took * 2 / 3)) milliseconds)" \
	"$(names_functions)"

mkfifo pipe
start -e cpu-clock:u --control pipe -- "$busy" 250 alone calm
sleep 0.4
echo disable >pipe
sleep 0.5
printf 'enable\nnonsense\n' >pipe
sleep 0.4
echo stop >pipe
sleep 0.3
whole_before_the_end=$(perf report -i x.data --header-only 2>&1 | grep -c '^# cmdline')
finish
check "a control pipe pauses and stops" "$(status_is 5)" "$(perf_agrees)" \
	"$(is_at_least "$(pause)" 300 'milliseconds of pause')" "$(is_at_most "$(span)" $((took * 4 / 5)) milliseconds)" \
	"$(says 'unknown commands on the control pipe.*: 1')" \
	"$(is_at_least "$whole_before_the_end" 1 'whole before the program has ended')"

record -e cpu-clock:u --delay 400 --duration 0.3 -- "$busy" 2000 alone calm
check "delay and duration, which ends the program" "$(status_is 0)" "$(perf_agrees)" \
	"$(is_at_least "$(told)" 10 samples)" "$(is_at_most "$(span)" 5000 milliseconds)"

start -e cpu-clock:u -- "$busy" 2000 alone calm
sleep 0.5
kill -INT -- -$pid
finish
check "Ctrl-C ends the program, and the file is whole" "$(status_is 130)" "$(perf_agrees)" \
	"$(is_at_least "$(told)" 10 samples)"

start -e cpu-clock:u -- "$busy" 2000 alone calm
sleep 0.5
kill -TERM $pid
finish
check "SIGTERM is passed on, and the file is whole" "$(status_is 143)" "$(perf_agrees)"

# shellcheck disable=SC2016
record -e cpu-clock:u -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; kill -SEGV $$' 2>/dev/null
check "a crash passes through" "$(status_is 139)" "$(perf_agrees)"

# The shell ends before the program that it started, which it has not waited for.
# shellcheck disable=SC2016
record -F 1000 -e cpu-clock:u -- sh -c '"$1" 60000 alone calm & echo $! >child; "$1" 200 alone calm; exit 0' - "$busy"
kill "$(<child)"
"$lode" import x.data -o x.lode >/dev/null 2>&1
told_seconds() { "$lode" info x.lode --format json | tr , '\n' | sed -nE "s/.*\"$1\": *([0-9.]+).*/\1/p" | head -n 1; }
check "what runs longer than the program is told, and its time counts" "$(status_is 0)" \
	"$(says "still run and are no longer sampled: 1, such as process $(<child)$")" \
	"$(awk -v samples="$(told)" -v user="$(told_seconds user_seconds)" 'BEGIN {
		if (user < 0.8 * samples / 1000) print user " s in " samples " samples of 1 ms" }')"

start -e cpu-clock:u -- "$busy" 400 alone calm
sleep 2.6
kill -KILL $pid
finish
kill -KILL -- -$pid 2>/dev/null
perf script -i x.data >out 2>complaint
check "killed, it leaves what was recorded until a second before" "$(is_at_least "$(span)" 1300 milliseconds)" \
	"$([ ! -s complaint ] || echo "perf complains: $(head -n 1 complaint)")"

record -e cpu-clock:u -F 20000 --buffer 1 -- "$busy" 500
lost=$(sed -nE 's/.* ([0-9,]+) lost,.*/\1/p' err | tr -d ,)
in_file=$(perf script -i x.data --show-lost-events 2>/dev/null |
	sed -nE 's/.*PERF_RECORD_LOST lost ([0-9]+).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
check "what is lost is counted, in the file too" "$(status_is 5)" \
	"$([ "$lost" = "$in_file" ] || echo "lode says '$lost' lost, the file '$in_file'")"

perf buildid-list -i x.data >ids 2>&1
expected=$(readelf -n "$busy" | sed -nE 's/.*Build ID: ([0-9a-f]+)/\1/p')
check "the build-ids of what was mapped are in the file" \
	"$(grep -qF "$expected $busy" ids || echo "'$expected' is not in it")"

perf script -i x.data --header-only -I >header 2>&1
faults=()
for words in "hostname : $(uname -n)" "os release : $(uname -r)" "perf version : lode " "arch : $(uname -m)" \
	"nrcpus online : $(getconf _NPROCESSORS_ONLN)" 'cpudesc : .' "cmdline : .*record .* --buffer 1 -- $busy 500" \
	'event : name = cpu-clock:u, ' 'time of first sample : [1-9]' 'clockid: monotonic' 'sibling .*: *0' 'node0 meminfo'; do
	grep -qE "^# *$words" header || faults+=("no '$words' in the header")
done
check "the header says what was recorded where" "${faults[@]}"

if [ "$(id -u)" -eq 0 ]; then
	record -e cpu-clock,page-faults -- ls -R /usr/include
	check "the kernel's code, with a mapping to name it by" "$(status_is 0)" "$(perf_agrees)" \
		"$(is_at_least "$(perf script -i x.data --show-mmap-events 2>/dev/null | grep -c 'kernel.kallsyms')" \
			"$(grep -cE '^0*[1-9a-f][0-9a-f]* . _text$' /proc/kallsyms)" 'mappings of the kernel')"
else
	number=$((number + 1))
	echo "ok $number - the kernel's code # SKIP this is not root"
fi

record -e cpu-clock:u -- ./no-such-program
check "a program that is not there leaves the old recording alone" "$(status_is 1)" \
	"$(says 'cannot find program')" "$([ -s x.data ] || echo "x.data is gone")"

: >no-format
chmod +x no-format
printf '\177ELF rubbish' >no-format
record -e cpu-clock:u -- ./no-format
check "a program that cannot be executed" "$(status_is 1)" "$(says 'cannot start .*: it is neither a program')" \
	"$([ -s x.data ] || echo "x.data is gone")"

if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	cp "$lode" lode.copy
	cp "$busy" busy.copy
	mkdir theirs
	chown 65534:65534 theirs
	nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all -- "$@"; }
	nobody ./lode.copy record -o theirs/x.data -e cpu-clock -- ./busy.copy 200 >out 2>err
	status=$?
	cp theirs/x.data x.data
	faults=("$(status_is 5)" "$(perf_agrees)" "$(is_at_least "$(told)" 10 samples)")
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ] || faults+=("$(says 'only user code is sampled')")
	nobody ./lode.copy record -o theirs/y.data -e cpu-clock:u -p 1 >out 2>err
	status=$?
	check "without privileges" "${faults[@]}" "$(status_is 1)" "$(says 'process 1 cannot be sampled')" \
		"$([ ! -e theirs/y.data ] || echo "left a file")"
else
	number=$((number + 1))
	echo "ok $number - without privileges # SKIP this is not root, or sampling is for root only"
fi
