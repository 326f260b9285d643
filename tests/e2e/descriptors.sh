#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A program that lode starts has the descriptors that lode was started with and none of lode's own,
# whichever verb starts it. Prints TAP.
#
#   tests/e2e/descriptors.sh LODE LIST      LIST: list_descriptors.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

list=$(realpath "$2")
begin "$1"

can_sample=true
"$lode" record -e cpu-clock:u -o trial -- true >/dev/null 2>&1 || can_sample=false
printf 'memories 1\nthreads 1\n' >x.place

# What is open here is the program's too, as a make's job server is.
exec 7<x.place
"$list" expected </dev/null >/dev/null 2>&1
sort -u -o expected expected

has_seven() { grep -qx "7 $work/x.place" expected || echo "the descriptor of the test is not there: $(tr '\n' '|' <expected)"; }
# same TIMES: the program ran so often, each time with the expected descriptors
same() {
	[ "$(grep -cx end list 2>/dev/null)" -eq "$1" ] || echo "the program ran $(grep -cx end list) times, not $1"
	sort -u list 2>/dev/null | diff expected - >difference ||
		echo "not as without lode: $(grep '^[<>]' difference | tr '\n' '|')"
}

# starts WHAT TIMES VERB OPTION…: a case
starts() {
	local what=$1 times=$2
	shift 2
	rm -f list
	"$lode" "$@" -- "$list" list >out 2>err </dev/null
	check "$what" "$(same "$times")"
}
skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

check "what the program inherits from lode's parent" "$(has_seven)"
if $can_sample; then
	mkfifo control
	starts "record" 1 record -e cpu-clock:u -o x.data
	starts "record --windows" 1 record -e cpu-clock:u --windows 3% -o x.data
	starts "record --control" 1 record -e cpu-clock:u --control control -o x.data
	starts "run, which runs it twice" 2 run -F 10000 -o x.lode --count
	starts "run --once" 1 run --once -o x.lode
	starts "memory record" 1 memory record -o x.lode
	starts "memory record --allocations" 1 memory record --allocations --page-nodes -o x.lode
	sleep 60 &
	sleeper=$!
	starts "record --pid" 1 record -e cpu-clock:u --pid "$sleeper" -o x.data
	kill "$sleeper"
else
	skip "samples" "sampling is not allowed here"
fi
starts "run --exact" 1 run --exact -o x.lode
starts "run --trace" 1 run --trace -o x.lode
starts "trace record" 1 trace record -o x.rps
starts "trace record --allocations" 1 trace record --allocations -o x.rps
starts "place apply" 1 place apply x.place

# The page stays when the program has ended.
serves() {
	local what=$1 pid n=0
	shift
	rm -f list
	"$lode" "$@" -- "$list" list >out 2>err </dev/null &
	pid=$!
	until grep -qsx end list || ! kill -0 "$pid" 2>/dev/null || [ "$n" -eq 1200 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	kill "$pid" 2>/dev/null
	wait "$pid"
	check "$what" "$(same 1)" "$(grep -q 'http://' out err || echo "there was no page")"
}
if ! $can_sample; then
	skip "the page's socket" "sampling is not allowed here"
elif "$lode" serve nothing.lode 2>&1 | grep -q 'built without'; then
	skip "the page's socket" "this build has no page"
else
	serves "record --serve" record -e cpu-clock:u --serve -o x.data
	serves "memory record --serve" memory record --serve -o x.lode
fi

# valgrind leaves the descriptor of its log open to the program, below its own, which are the
# highest.
if command -v valgrind >/dev/null; then
	rm -f list
	"$lode" trace record --with lackey -o x.rps -- "$list" list >out 2>err </dev/null
	highest=$(($(ulimit -n) - 12))
	awk -v highest="$highest" 'NR == FNR { if ($1 + 0 >= highest) own[$2] = 1; next }
		$1 + 0 < highest && !($2 in own)' list list >others
	mv others list
	check "trace record --with lackey, but for valgrind's" "$(same 1)"
else
	skip "trace record --with lackey" "valgrind is not installed"
fi
echo "1..$number"
