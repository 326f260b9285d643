#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory --sharing` says of threads whose sharing is known, by samples alone, and
# `lode trace simulate --sharing` of their traces. Prints TAP; skips where the kernel lets nobody
# sample, and what needs a compiler or qemu-x86_64 where there is none.
#
#   tests/e2e/sharing.sh LODE PROGRAMS      PROGRAMS: the folder of shared_lines.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
if ! gcc -g -O2 -pthread "$programs/shared_lines.c" -o shared 2>err; then
	skip "there is no gcc"
fi

# record CASE ROUNDS
record() {
	"$lode" memory record -F 4000 -o x.lode -- ./shared "$1" "$2" >out 2>err
	status=$?
}

# Lines with most of the program's weight, from their accesses in CSV: a line of words each.
lines() {
	"$lode" memory x.lode --sharing --format csv "$@" 2>>err |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["line_share"] > 0.3 {
				print $at["line_sharing"], $at["line_threads"], $at["line_storing"],
					$at["offset"] "+" $at["bytes"], "thread", $at["thread"],
					$at["object"], $at["function"] }' | sort
}

# says EXPECTED FOUND
says() { [ "$1" = "$2" ] || echo "expected '$1', found '$2'"; }

echo 1..12

record false 8000000
check "two counters in a line" "$(status_is 0)" \
	"$(says "false 2 2 0+8 thread 1 together.hits hit
false 2 2 8+8 thread 2 together.misses miss" "$(lines)")" \
	"$("$lode" memory x.lode --sharing --format json 2>>err | grep '"sharing":"false"' >/dev/null || echo "not in JSON")" \
	"$("$lode" memory x.lode --sharing 2>>err | grep -E '^[0-9.]+ % ±[0-9.]+ .* false  +0x[0-9a-f]+ +2 threads, both store' >/dev/null || echo "not in text")"

# The code of a thread, before anything was mined: of all that it accesses, its counter alone waits.
code() { "$lode" annotate x.lode function hit "$@" 2>>err; }
check "code with its data" \
	"$(code | grep -E ' %  +[0-9,]+  together\.hits, 8 B at 0x[0-9a-f]+' >/dev/null || echo "no data beside the code")" \
	"$(says "together.hits" "$(code --format csv | awk -F, 'NR > 1 && $(NF - 6) > 5 { print $(NF - 2) }' |
		sort -u)")" \
	"$(code --format json | grep '"objects":\[{"name":"together.hits"' >/dev/null || echo "not in JSON")"

# Lines of 16 bytes still hold both, and the bytes are no others.
check "lines of another size" "$(says "false 2 2 0+8 thread 1 together.hits hit
false 2 2 8+8 thread 2 together.misses miss" "$(lines --granularity 16)")" \
	"$("$lode" memory x.lode --sharing --granularity word >out 2>err && echo "a line of 8 bytes")"

record padded 8000000
check "the same counters, each in its line" "$(status_is 0)" "$(says "" "$(lines)")"

record true 8000000
check "one atomic counter" "$(status_is 0)" \
	"$(says "true 2 2 0+8 thread 1 atomic.total add
true 2 2 0+8 thread 2 atomic.total add" "$(lines)")"

record handed 100000000
check "an array that one thread fills, and then the other reads" "$(status_is 0)" \
	"$("$lode" memory x.lode --sharing --format csv 2>>err | grep -F 'array[]')" \
	"$("$lode" memory x.lode --sharing 2>>err | grep 'lines\? (.* of weight) that threads used one after the other' >/dev/null || echo "not told")"

# --- from traces: counted ---

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

if ! command -v qemu-x86_64 >/dev/null; then
	skip "misses due to sharing in a trace" "there is no qemu-x86_64"
	skip "the stores that misses were due to" "there is no qemu-x86_64"
	skip "the stores in a profile" "there is no qemu-x86_64"
	skip "classes of misses by function" "there is no qemu-x86_64"
	skip "one counter of all" "there is no qemu-x86_64"
	skip "turns of another length" "there is no qemu-x86_64"
	exit 0
fi
caches=i1=32K:8:64,d1=32K:8:64,cores=3

# trace CASE
trace() {
	"$lode" trace record -o "$1.rps" -- ./shared "$1" 100000 500 >out 2>err
	status=$?
}
simulate() { "$lode" trace simulate "$@" 2>>err; }

# Of the counters, which the barrier is not: the kind of sharing, and what misses.
missed() {
	simulate "$1.rps" --cache $caches --sharing --format csv "${@:2}" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["object"] ~ /^(together|apart|atomic)/ {
				print $at["line_sharing"], "thread", $at["thread"], $at["object"],
					$at["function"] }' | sort -u
}

# The threads wait for each other after each 500 rounds. So in turns of 50 instructions they meet,
# however they ran while they were traced.
trace false
check "misses due to sharing in a trace" "$(status_is 0)" \
	"$(says "false thread 1 together.hits hit
false thread 2 together.misses miss" "$(missed false --quantum 50)")" \
	"$(simulate false.rps --cache d1=32K:8:64 --sharing >out && echo "with one core")"

# Which threads and functions wrote which bytes of the line: OFFSET+BYTES THREAD FUNCTION of the
# counter's row, and of the store that most of its misses were due to; and whether all were.
due_to() {
	simulate "$1.rps" --cache $caches --sharing --format csv "${@:2}" | tr -d '\r' |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["object"] ~ /^(together|apart|atomic)/ {
				print $at["offset"] "+" $at["bytes"], $at["thread"], $at["function"], "due to",
					$at["due_to_offset"] "+" $at["due_to_bytes"], $at["due_to_thread"],
					$at["due_to_function"],
					($at["samples"] == $at["due_to_misses"] ? "always" : "") }' | sort
}
check "the stores that misses were due to" \
	"$(says "0+8 1 hit due to 8+8 2 miss always
8+8 2 miss due to 0+8 1 hit always" "$(due_to false --quantum 50)")" \
	"$(simulate false.rps --cache $caches --sharing --quantum 50 | grep -E '^ +[0-9,]+ +bytes 8-15 +due to thread 2, miss shared_lines.c:[0-9]+$' >/dev/null || echo "not in text")" \
	"$(simulate false.rps --cache $caches --sharing --quantum 50 --format json |
		grep -F '"due_to":[' >/dev/null || echo "not in JSON")"

# A profile of the trace has the same, in each form, down to the last digit.
check "the stores in a profile" \
	"$("$lode" import false.rps --simulate $caches --classify -o kept.lode >out 2>err || echo "import: $(cat err)")" \
	"$(for form in text json csv; do
		simulate false.rps --cache $caches --sharing --format $form >simulated
		"$lode" memory kept.lode --sharing --format $form >kept 2>>err
		cmp simulated kept 2>&1
	done)" \
	"$(grep -E ',[0-9]+,[0-9]+,[0-9]+,[0-9]+,[^,]+,[^,]*,[0-9]*,0x[0-9a-f]+,[1-9][0-9]*.?$' kept >/dev/null || echo "no store is named")"

# counted CLASS: in the first level of data, by the simulation alone.
simulate false.rps --cache $caches --classify --quantum 50 --format csv | sed 's/"[^"]*"/quoted/' >classes
counted() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["cache"] == "d1" { print $at[name] }' classes
}
# by CLASS VIEW: the sum over places, or over objects.
by() {
	simulate false.rps --cache $caches --classify --quantum 50 --by "$2" --event "$1-miss" \
		--format csv | awk -F, 'NR > 1 { sum += $(NF - 4) } END { print sum + 0 }'
}
false_of_objects=$(by false-sharing object)
check "classes of misses by function" \
	"$(says "$(counted false_sharing)" "$(by false-sharing function)")" \
	"$(says "$(counted false_sharing)" "$false_of_objects")" \
	"$(says "$(counted true_sharing)" "$(by true-sharing object)")" \
	"$(says "$(counted compulsory)" "$(by compulsory function)")" \
	"$([ "$false_of_objects" -gt 1000 ] || echo "the threads do not meet")"

trace padded
check "counters in lines of their own never miss, in turns of any length" "$(status_is 0)" \
	"$(missed padded)" "$(missed padded --quantum 50)" "$(missed padded --quantum 1000)"

trace true
check "one counter of all" "$(status_is 0)" \
	"$(says "0+8 1 add due to 0+8 2 add always
0+8 2 add due to 0+8 1 add always" "$(due_to true --quantum 50)")"
