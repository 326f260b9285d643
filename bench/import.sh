#!/bin/bash
# SPDX-License-Identifier: MIT
# Times reading and importing a callgrind recording beside callgrind_annotate on the same file.
#   bench/import.sh [callgrind.out]      default: records cc1 compiling one of lode's own files
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode bench/read_callgrind >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
recording=${1:-}
if [ -z "$recording" ]; then
	recording=$scratch/callgrind.out
	read -ra flags <<<"$(pkg-config --cflags glib-2.0)"
	gcc -E -P -D_GNU_SOURCE -Isrc "${flags[@]}" src/base/text/number_format.c -o "$scratch/cc1.i"
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --cache-sim=yes \
		--branch-sim=yes --skip-plt=no --callgrind-out-file="$recording" \
		"$(gcc -print-prog-name=cc1)" -quiet -O2 "$scratch/cc1.i" -o /dev/null 2>/dev/null
fi
bytes=$(stat -c %s "$recording")

# seconds COMMAND…
seconds() {
	local start end
	start=$(date +%s%N)
	"$@" >/dev/null 2>&1
	end=$(date +%s%N)
	awk -v ns=$((end - start)) 'BEGIN { printf "%.3f", ns / 1e9 }'
}

read -r read_s _ <<<"$(build-bench/bench/read_callgrind "$recording")"
import_s=$(seconds build-bench/src/cli/lode import "$recording" -o "$scratch/x.lode")
peer_s=$(seconds callgrind_annotate "$recording")
awk -v bytes="$bytes" -v read_s="$read_s" -v import_s="$import_s" -v peer_s="$peer_s" 'BEGIN {
	printf "%-28s %8s %8s %22s\n", bytes / 1e6 " MB of callgrind output", "s", "MB/s", "times as fast as peer"
	printf "%-28s %8.3f %8.0f %22.1f\n", "read into memory", read_s, bytes / read_s / 1e6, peer_s / read_s
	printf "%-28s %8.3f %8.0f %22.1f\n", "lode import", import_s, bytes / import_s / 1e6, peer_s / import_s
	printf "%-28s %8.3f %8.0f %22.1f\n", "callgrind_annotate (peer)", peer_s, bytes / peer_s / 1e6, 1
}'
