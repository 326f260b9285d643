#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What it costs to trace a program: lode trace record beside valgrind's lackey that writes its text
# to nowhere, and beside the program alone. One table, one run. "CPU" is user and system time of all
# that takes part: on a machine with other work, wall time says little.
#
#   bench/trace_record.sh [LODE]      LODE is build/src/cli/lode unless given
set -euo pipefail
lode=$(realpath "${1:-build/src/cli/lode}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cc1=$(gcc -print-prog-name=cc1)

head -c 150000 "$lode" >input
seq 1 20000 | shuf --random-source=input >numbers
for i in $(seq 20); do
	echo "int f$i(const int *v, int n) { int s = $i; for (int i = 0; i < n; i++) s += v[i] * (s ^ i); return s; }"
done >input.c

# seconds COMMAND…: "WALL USER+SYSTEM"
seconds() {
	local TIMEFORMAT='%R %U %S'
	{ time "$@" >/dev/null 2>stderr || true; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

# measure NAME COMMAND…
measure() {
	local name=$1 references bytes
	shift
	read -r _ alone < <(seconds "$@")
	read -r wall cpu < <(seconds "$lode" trace record --level fast -o x.rps -- "$@")
	# all of it is read: lode would die of a closed pipe
	references=$("$lode" trace info --quick --format json x.rps | grep -oP '"references": *\K[0-9]+' | sed -n 1p)
	bytes=$(stat -c %s x.rps)
	read -r lackey_wall lackey < <(seconds valgrind --tool=lackey --trace-mem=yes --log-file=/dev/null "$@")
	awk -v name="$name" -v alone="$alone" -v wall="$wall" -v cpu="$cpu" -v lackey_wall="$lackey_wall" \
		-v lackey="$lackey" -v references="$references" -v bytes="$bytes" 'BEGIN {
		printf "%-8s %8.1f %8.2f %8.2f %8.2f %8.2f %8.2f %8.1f %8.1f %8.3f\n", name, references / 1e6, alone,
			wall, cpu, lackey_wall, lackey, references / 1e6 / cpu, lackey / cpu, 8 * bytes / references }'
}

printf '%-8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n' program Mrefs alone 'lode s' 'CPU' 'lackey s' CPU \
	'M/CPU s' '×lackey' bits/ref
measure gzip gzip -9 -c input
measure cc1 "$cc1" -quiet -O2 input.c -o /dev/null
export LC_ALL=C
measure sort sort --parallel=1 numbers
