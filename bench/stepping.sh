#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures the parts of the cost of stepping: the figures of docs/inside/stepping.md.
#   bench/stepping.sh [DIRECTORY]
# DIRECTORY: of the build (default: build), with its benchmarks. PAIRS: how many times a program is run
# with the library and without, in turn (default: 5); medians are printed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
pairs=${PAIRS:-5}
costs=$build/bench/step_costs
library=$build/tools/preload/windows/liblode-windows.so
logs=$(mktemp -d /dev/shm/lode-stepping-XXXXXX)
trap 'rm -rf "$logs"' EXIT
mkfifo "$logs/announce"
exec 3<>"$logs/announce"

# stepped SHARE COMMAND…: with the library, its timers and that share
stepped() {
	local share=$1
	shift
	env LODE_WINDOWS="$logs" LODE_WINDOWS_TIMER=1 LODE_WINDOWS_SHARE="$share" LD_PRELOAD="$library" "$@"
}
# with_events COMMAND…: with the library as lode runs it, but without lode: it has no windows.
with_events() { env LODE_WINDOWS="$logs" LD_PRELOAD="$library" "$@"; }
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
# compare WAY COMMAND…: the medians without and with, and their difference
compare() {
	local way=$1 i plain=() other=()
	shift
	for ((i = 0; i < pairs; i++)); do
		plain+=("$("$@")")
		other+=("$("$way" "$@")")
	done
	paste <(printf '%s\n' "${plain[@]}" | median) <(printf '%s\n' "${other[@]}" | median) |
		awk '{ printf "%s %s %+.1f", $1, $2, $2 - $1 }'
}

echo "a trap, with a handler that does nothing: $("$costs" trap 200000) ns"
echo "a signal without a window (own empty handler, the library's): $(compare with_events "$costs" signal 100000) ns"
echo "a program that is executed (without, with the library): $(compare with_events "$costs" spawn 500 /bin/true) µs"
echo "a child of fork (likewise): $(compare with_events "$costs" fork 1000) µs"

# The windows' own figures: of all logs, by window_log_format.h.
results=()
for ((i = 0; i < pairs; i++)); do
	without=$("$costs" work 150000000)
	rm -f "$logs"/*.log "$logs/budget"
	with=$(stepped 0.3 "$costs" work 150000000)
	results+=("$without $with $(od -An -v -tu8 -j32 -N48 "$logs"/*.log | tr '\n' ' ')")
done
printf '%s\n' "${results[@]}" | awk '{ print ($2 / $1 - 1) * 100, $0 }' | sort -g | awk '
	{ cost[NR] = $1; without += $2; with += $3; bytes += $4 - 4096; windows += $5; steps += $6; took += $8 + $9 }
	END {
		printf "with 30 %%: cost %+.0f %% (%+.0f to %+.0f)\n", cost[int((NR + 1) / 2)], cost[1], cost[NR]
		printf "a step: %.1f µs, %.1f bytes of log; windows: %d of %d steps\n", took / steps / 1e3,
			bytes / steps, windows, steps / windows
		printf "beside the steps of a window: %.2f ms\n", (with - without - took / 1e6) / windows
	}'
