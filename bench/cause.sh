#!/bin/bash
# SPDX-License-Identifier: MIT
# Where timer samples lie relative to the instruction that waits, and what share of the weight goes
# to it: a kernel of cause_kernels.[cS] in each row, which lode samples by cpu-clock.
#   bench/cause.sh [SECONDS] [NAME]      default: 2 of each, all
# Columns: shares of the weight as sampled by the distance from the cause on the executed path, in
# percent; "cheap": what the loop would take without the cause; then how much of the rest is right,
# as sampled, as charged with counted executions, and as charged with inferred ones (docs/reference/waiting.md).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-2}
wanted=${2:-}
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode bench/cause_positions >/dev/null
lode=$PWD/build-bench/src/cli/lode
positions=$PWD/build-bench/bench/cause_positions
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gcc -O2 -g -o "$scratch/kernels" bench/cause_kernels.[cS]
cd "$scratch"

logged() { "$@" >log 2>&1 || { cat log >&2 && exit 1; }; }

"$positions"
./kernels >list
while IFS=$'\t' read -r name place; do
	[ -z "$wanted" ] || [ "$name" = "$wanted" ] || continue
	rm -rf rec x.data ./*.lode
	# Samples and counts are of the same run time, of which valgrind has less to show.
	logged "$lode" record -F 5000 -e cpu-clock:u -o x.data -- ./kernels "$name" "$seconds"
	logged valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes \
		--callgrind-out-file=x.callgrind ./kernels "$name" 0
	logged "$lode" import -o inferred.lode x.data
	logged "$lode" import -o counted.lode x.data x.callgrind
	# shellcheck disable=SC2086
	"$positions" counted.lode inferred.lode "$name" $place
done <list
