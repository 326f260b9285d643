#!/bin/bash
# SPDX-License-Identifier: MIT
# What sampling costs: a CPU-bound program alone, under 'lode record' and under 'perf record', in turn.
#   bench/record.sh [REPETITIONS]        default: 7
# Prints medians. "program" is the user and system time of the program, as it sees it itself; "recorder"
# that of the process that records. perf is told to leave its cache of binaries alone (-N), as lode has none.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-7}
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode >/dev/null
lode=$PWD/build-bench/src/cli/lode
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# Real code to compress, of which there is enough everywhere.
cat /usr/bin/* 2>/dev/null | head -c 6000000 >input || true
cat >times.sh <<'EOF'
# Runs a command; leaves what it used with all it started, and the wall seconds.
start=$(date +%s%N)
"$@" >/dev/null 2>errors || { cat errors >&2; exit 1; }
end=$(date +%s%N)
times >all
awk -v ns=$((end - start)) 'BEGIN { print ns / 1e9 }' >wall
EOF
# The program says itself what it used, so that the recorder's time is the difference.
cat >program.sh <<'EOF'
xz -6 -c -T1 input
times >own
EOF

# The user and system seconds of a shell's children, from what its "times" printed.
cpu_seconds() { tail -n 1 "$1" | sed 's/[ms]/ /g' | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }'; }

# measure NAME COMMAND…: appends wall, the program's and the recorder's CPU seconds.
measure() {
	local name=$1
	shift
	bash times.sh "$@" bash program.sh
	awk -v wall="$(cat wall)" -v all="$(cpu_seconds all)" -v own="$(cpu_seconds own)" \
		'BEGIN { print wall, own, all - own }' >>"$name.figures"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
column() { awk -v n="$2" '{ print $n }' "$1.figures" | median; }

for _ in $(seq "$repetitions"); do
	measure alone env
	for hz in 1000 10000; do
		measure "lode-$hz" "$lode" record -e cpu-clock:u -F $hz -o lode.data --
		measure "perf-$hz" perf record -q -N -e cpu-clock:u -F $hz -k mono -o perf.data --
	done
done
nothing=$(column alone 3)
base_wall=$(column alone 1)
base_program=$(column alone 2)
printf '%-22s %8s %10s %12s %12s %10s\n' "xz -6, medians of $repetitions" "wall s" "program s" "wall ratio" "CPU ratio" "recorder s"
for name in alone lode-1000 perf-1000 lode-10000 perf-10000; do
	awk -v name="$name" -v wall="$(column $name 1)" -v program="$(column $name 2)" -v recorder="$(column $name 3)" \
		-v base_wall="$base_wall" -v base_program="$base_program" -v nothing="$nothing" 'BEGIN {
		printf "%-22s %8.3f %10.3f %12.4f %12.4f %10.3f\n", name, wall, program, wall / base_wall, program / base_program, recorder - nothing
	}'
done
