#!/bin/bash
# SPDX-License-Identifier: MIT
# Times reading a perf.data file, and importing it (functions, lines, inferred executions, the
# profile on disk), beside perf script on the same file.
#   bench/perf_data.sh [SAMPLES]      default: 2,000,000, of a recorded shell replicated
set -euo pipefail
cd "$(dirname "$0")/.."
samples=${1:-2000000}
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench bench/read_perf_data bench/replicate_perf_data src/cli/lode >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
short=$scratch/short.perf.data
recording=$scratch/perf.data
perf record -q -e cpu-clock:u -F 10000 -o "$short" -- \
	bash -c 'for ((i = 0; i < 300000; i++)); do :; done' 2>/dev/null
build-bench/bench/replicate_perf_data "$short" "$recording" "$samples" >/dev/null

# seconds COMMAND…
seconds() {
	local start end
	start=$(date +%s%N)
	"$@" >/dev/null 2>&1
	end=$(date +%s%N)
	awk -v ns=$((end - start)) 'BEGIN { printf "%.3f", ns / 1e9 }'
}

# row NAME SECONDS
row() {
	awk -v name="$1" -v s="$2" -v n="$n" -v peer_s="$peer_s" 'BEGIN {
		printf "%-28s %9.3f %12.2f %22.1f\n", name, s, n / s / 1e6, peer_s / s
	}'
}

read -r read_s n bytes _ <<<"$(build-bench/bench/read_perf_data "$recording")"
peer_s=$(seconds perf script -f -F ip,sym,dso -i "$recording")
printf '%-28s %9s %12s %22s\n' "$n samples, $((bytes / 1000000)) MB" s 'M samples/s' \
	'times as fast as peer'
row 'read' "$read_s"
row 'lode import' "$(seconds build-bench/src/cli/lode import -o "$scratch/x.lode" "$recording")"
row 'perf script (peer)' "$peer_s"
