#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces programs and replays the traces from memory: millions of references a second through one
# hierarchy, through 64 in one pass, and for the curve of all sizes, with one thread and with two;
# and the whole of recording and simulating beside cachegrind on the same program.
#   bench/simulate.sh [REFERENCES]     of each trace that is replayed; default: 20000000
set -euo pipefail
cd "$(dirname "$0")/.."
references=${1:-20000000}
root=$PWD
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode tools/qemu_plugin/liblode-trace.so bench/cache_simulation \
	bench/stack_distances >/dev/null
lode=$root/build-bench/src/cli/lode
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C.UTF-8 HOME=$scratch PYTHONHASHSEED=0

head -c 1000000 "$lode" >input
seq 1 30000 | shuf --random-source=input >numbers
echo 'print(sum(len(str(i * 7919 % 10007)) for i in range(60000)))' >program.py

# seconds COMMAND…: of the clock.
seconds() {
	local begin end
	begin=$(date +%s.%N)
	"$@" >/dev/null 2>log || { tail -n 3 log >&2; return 1; }
	end=$(date +%s.%N)
	awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.2f", b - a }'
}

replayed() {
	local name=$1 traced simulated peer
	shift
	echo
	echo "$name"
	traced=$(seconds "$lode" trace record -o x.rps --level fast -- "$@")
	simulated=$(seconds "$lode" trace simulate x.rps --cache cachegrind)
	peer=$(seconds valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null "$@")
	awk -v t="$traced" -v s="$simulated" -v p="$peer" 'BEGIN {
		printf "recorded in %.2f s, replayed in %.2f s; cachegrind (peer) %.2f s: " \
			"%.1f times a replay, %.1f times both\n", t, s, p, p / s, p / (t + s) }'
	"$lode" trace unpack x.rps --count "$references" -o x.lackey
	"$root/build-bench/bench/cache_simulation" x.lackey
	"$lode" trace pack x.lackey --level fast -o y.rps 2>/dev/null
	"$root/build-bench/bench/stack_distances" y.rps
}

replayed gzip gzip -c input
replayed sort sort --parallel=1 numbers
replayed python3 /usr/bin/python3 -S program.py
