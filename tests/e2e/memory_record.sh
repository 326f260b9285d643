#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory record` records of a real program, read by perf and by lode. Prints TAP; skips
# where the kernel lets nobody sample, or where there is no perf to read the recordings.
#
#   tests/e2e/memory_record.sh LODE TOUCH LIBRARY DUMP
#       TOUCH: touch_pages.c   LIBRARY: of tools/preload/allocations   DUMP: dump_allocations.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

touch=$(realpath "$2")
LODE_PRELOAD_DIRECTORY=$(dirname "$(realpath "$3")")
dump=$(realpath "$4")
begin "$1"
export LODE_PRELOAD_DIRECTORY

needs_sampling
if ! command -v perf >/dev/null; then
	skip "perf is not there to read the recordings"
fi

says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
is_at_least() { [ "$1" -ge "$2" ] || echo "$3: $1, at least $2 expected"; }
is_exactly() { [ "$1" = "$2" ] || echo "'$1', '$2' expected"; }
value() { sed -nE "s/.*\b$1=([^ ]*).*/\1/p" out; }

# record OPTION…: runs the program; the recordings are in ./rec then.
record() {
	rm -rf rec
	"$lode" memory record --keep-recording rec -o x.lode "$@" -- "${program[@]}" >out 2>err
	status=$?
}
program=("$touch")

# Under sanitizers, where tests are short, what lode does counts: what it writes is the same as
# elsewhere.
perf_agrees() {
	[ -z "${LODE_SHORT_TESTS:-}" ] || return 0
	perf script -i rec/perf.data >/dev/null 2>complaint || echo "perf script fails"
	perf report -i rec/perf.data --stdio >/dev/null 2>>complaint || echo "perf report fails"
	[ ! -s complaint ] || echo "perf complains: $(head -n 1 complaint)"
}
# Page faults whose address is one of the 500 pages, each once.
faults() {
	local address start
	start=$(value pages)
	perf script -i rec/perf.data -F event,addr 2>/dev/null | sed -n 's/.*page-faults.*: *//p' |
		while read -r address; do
			echo $((16#$address - start))
		done | awk '$1 >= 0 && $1 < 500 * 4096 && $1 % 4096 == 0' | sort -u | wc -l
}
mappings() { perf script -i rec/perf.data --show-mmap-events 2>/dev/null | grep MMAP2 >mappings; }
has_stacks() {
	perf script -D -i rec/perf.data 2>/dev/null | grep '\.\.\. ustack: size 256' >/dev/null ||
		echo "no sample with 256 bytes of stack"
}
# A mapping that begins where the memory was moved to, of its whole size.
has_grown() {
	grep -qE "\[$(value grown)\((0x100000|0x1[0-9a-f]{5})\)" mappings ||
		echo "no mapping of 1 MB at $(value grown)"
}
has_name() {
	grep -qF "$1" mappings || echo "no $1"
}

record
fixed=$(cut -d ' ' -f 1-4 out)
check "a program" "$(status_is 7)" "$(says ' samples of .*page-faults')" "$(perf_agrees)"
check "a piece of the stack with each sample" "$(has_stacks)"
check "the first touch of each page" "$(is_at_least "$(faults)" 500 "pages")"
mappings
check "mappings that the kernel does not announce" "$(has_grown)" "$(has_name '[stack]')" \
	"$(has_name '[heap]')"
check "a profile" "$([ -s x.lode ] || echo "there is none")" \
	"$("$lode" info x.lode >/dev/null 2>&1 || echo "it cannot be read")" "$(says "'lode memory x.lode'")"

record -e page-faults -c 1
twice=$(sqlite3 x.lode 'SELECT count(*) - count(DISTINCT address || time_ns), total(latency) FROM memory_sample')
check "page faults asked for are recorded once" "$(status_is 7)" "$(is_exactly "$twice" '0|0.0')" \
	"$(is_at_least "$(faults)" 500 "pages")"
# What the kernel does with its answer is the same under sanitizers.
if [ -n "${LODE_SHORT_TESTS:-}" ]; then
	number=$((number + 1))
	echo "ok $number - the same addresses again # SKIP tests are to be short"
else
	record
	if grep -q 'cannot be switched off' err; then
		number=$((number + 1))
		echo "ok $number - the same addresses again # SKIP randomisation cannot be switched off here"
	else
		check "the same addresses again" "$([ "$(cut -d ' ' -f 1-4 out)" = "$fixed" ] || cat out)"
	fi
fi
record --randomised
check "other addresses" "$([ "$(cut -d ' ' -f 1-4 out)" != "$fixed" ] || echo "the same")"

record --no-page-faults --timer 1000
check "no page faults, by a timer" "$(status_is 7)" "$([ "$(faults)" -eq 0 ] || echo "there are some")" \
	"$(is_at_least "$(perf script -i rec/perf.data -F event | grep -c cpu-clock)" 20 samples)"

LD_PRELOAD=libm.so.6 record --allocations
check "allocations, behind what is preloaded already" "$(status_is 7)" "$(perf_agrees)" \
	"$([ "$(value preload)" = "$LODE_PRELOAD_DIRECTORY/liblode-allocations.so:libm.so.6" ] || cat out)" \
	"$("$dump" figures rec/allocations-*.log | grep -q 'unseen=0 dropped=0.* truncated=0' || echo "no log")" \
	"$(is_at_least 1000000 "$(stat -c %s rec/allocations-*.log)" "a log is not cut to its size")"

# A variable of the thread's own is found by the thread's pointer, which the log knows.
cat >own_counter.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile _Thread_local uint64_t counter;
static void *count(void *place)
{
	struct timespec now, begin;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 100000; i++)
			counter++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 150);
	*(void **)place = (void *)&counter;
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	void *places[3];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, count, &places[i + 1]) != 0)
			abort();
	count(&places[0]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
		printf("%d,0x%lx\n", i, (unsigned long)places[i]);
	return 0;
}
END
own_counters_are_found() {
	local thread address n others
	"$lode" memory x.lode --by-thread --granularity word --format csv >words.csv 2>&1
	while IFS=, read -r thread address; do
		n=$(awk -F, -v t="$thread" -v a="$address" '$1 == t && $5 == a { n += $7 } END { print n + 0 }' words.csv)
		others=$(awk -F, -v t="$thread" -v a="$address" '$1 != t && $5 == a { n += $7 } END { print n + 0 }' words.csv)
		[ "$n" -ge 20 ] && [ "$others" = 0 ] || echo "thread $thread: $n samples at $address, of others $others"
	done <out
}
if cc -O1 -o own_counter own_counter.c -pthread 2>err; then
	program=(./own_counter) && record --allocations
	check "variables of threads' own" "$(status_is 0)" "$(own_counters_are_found)" \
		"$(is_at_least 3 "$("$lode" memory x.lode --where 'reason == "tls"' --by reason --format csv 2>/dev/null | grep -c tls)" "reasons tls")"
fi

cc -static -o still -x c - <<<'int main(void) { for (volatile int i = 0; i < 20000000; i++) ; return 0; }' 2>/dev/null &&
	program=(./still) && record --allocations &&
	check "a static program" "$(status_is 0)" "$(says "still' is linked statically")"

program=(sh -c "\"$touch\"; exit 3")
record --allocations
check "a shell and what it starts" "$(status_is 3)" "$(is_at_least "$(faults)" 500 "pages")" \
	"$(is_at_least "$(find rec -name 'allocations-*' | wc -l)" 2 logs)"
program=("$touch")

LODE_PRELOAD_DIRECTORY=/nonexistent record --allocations
check "no library" "$(status_is 1)" "$(says 'liblode-allocations.so is not installed')"

"$lode" memory record --start-stopped --keep-recording stopped -- "$touch" >out 2>err
status=$?
check "stopped from the start" "$(says 'no sample was taken')" "$(status_is 1)"

if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	cp "$lode" "$touch" . && mkdir nobody && chown 65534 nobody && rm -rf rec
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		./lode memory record --allocations --keep-recording nobody/rec -o nobody/x.lode \
		-- ./touch_pages >out 2>err
	status=$?
	mv nobody/rec rec 2>/dev/null && chown -R 0 rec
	check "without privileges" "$(status_is 7)" "$(is_at_least "$(faults)" 400 "pages")" "$(perf_agrees)"
fi

echo "1..$number"
