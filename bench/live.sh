#!/bin/bash
# SPDX-License-Identifier: MIT
# What the live picture costs: 'lode memory record' with and without --live, in turn, in a terminal of tmux.
#   bench/live.sh [REPETITIONS [BUILD]]        default: 5, build-bench
# Prints medians. "recorder" and "picture" are what the threads of lode used of one CPU while the program ran, "rounds" what
# the program's first thread got done meanwhile. Both threads of the program never wait.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-5}
build=${2:-build-bench}
[ -d "$build" ] || meson setup "$build" --buildtype=release -Db_ndebug=true >/dev/null
ninja -C "$build" src/cli/lode tests/live/two_threads >/dev/null
lode=$PWD/$build/src/cli/lode
program=$PWD/$build/tests/live/two_threads
scratch=$(mktemp -d)
terminal() { tmux -f /dev/null -S "$scratch/socket" "$@"; }
trap 'terminal kill-server 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch"
seconds=8
ticks=$(getconf CLK_TCK)

# used PID NAME-PATTERN: the CPU seconds of the threads of that name.
used() {
	local task sum=0 fields
	for task in "/proc/$1/task/"*; do
		grep -Eqx "$2" "$task/comm" || continue
		read -ra fields < <(sed 's/.*) //' "$task/stat")
		sum=$((sum + fields[11] + fields[12]))
	done
	awk -v sum="$sum" -v ticks="$ticks" 'BEGIN { print sum / ticks }'
}

# measure NAME OPTION…: appends the shares of the recorder and the picture, and the rounds.
measure() {
	local name=$1 pid recorder picture
	shift
	rm -rf kept
	terminal -u new-session -d -x 120 -y 40 \
		"exec $lode memory record $* --keep-recording kept -o x.lode -- sh -c '$program $seconds >out 2>&1'"
	pid=$(terminal display -p '#{pane_pid}')
	sleep $((seconds - 1))
	recorder=$(used "$pid" lode)
	picture=$(used "$pid" lode-picture)
	while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
	awk -v recorder="$recorder" -v picture="$picture" -v seconds=$((seconds - 1)) \
		-v rounds="$(sed -n 's/^sum //p' out)" \
		'BEGIN { print 100 * recorder / seconds, 100 * picture / seconds, rounds }' >>"$name.figures"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
column() { awk -v n="$2" '{ print $n }' "$1.figures" | median; }

for _ in $(seq "$repetitions"); do
	measure without
	measure live --live
done
printf '%-10s %12s %12s %12s\n' "medians of $repetitions" "recorder %" "picture %" rounds
for name in without live; do
	printf '%-10s %14s %12s %12s\n' "$name" "$(column $name 1)" "$(column $name 2)" "$(column $name 3)"
done
