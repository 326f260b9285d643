#!/bin/bash
# SPDX-License-Identifier: MIT
# What following allocations costs: programs alone, with lode's preloaded library, and with heaptrack's
# (Debian: apt install heaptrack), in turn. Prints the median of the CPU seconds and the ratios.
#   bench/allocations.sh [REPETITIONS]        default: 5
# heaptrack writes into a pipe that nobody interprets: the program's own cost is compared. The logs
# lie in $TMPDIR.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-5}
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench tools/preload/allocations/liblode-allocations.so >/dev/null
library=$PWD/build-bench/tools/preload/allocations/liblode-allocations.so
peer=$(find /usr/lib -name libheaptrack_preload.so 2>/dev/null | head -n 1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

cat >pairs.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *deep(int depth)
{
	void *volatile block = depth > 0 ? deep(depth - 1) : malloc(64);
	return block;
}
int main(void)
{
	for (int i = 0; i < 1000000; i++)
		free(deep(10));
	return 0;
}
END
cc -O2 -o pairs pairs.c
seq 300000 >numbers

run_pairs() { ./pairs; }
run_perl() { perl -e 'my %h; $h{$_ % 9973} .= "x$_" for 1..400000; print scalar(keys %h)' >/dev/null; }
run_sqlite() {
	sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n
		where i < 200000) insert into t select i, hex(i) from n; create index x on t(b);
		select count(*) from t;' >/dev/null
}
run_cc() { cc -O2 -c -o pairs.o pairs.c; }
run_sort() { sort -R numbers >/dev/null; }

alone() { "$@"; }
with_lode() {
	rm -rf logs && mkdir logs
	LODE_ALLOCATIONS=$scratch/logs LD_PRELOAD=$library "$@"
}
with_heaptrack() {
	mkfifo pipe
	cat pipe >heaptrack.raw &
	DUMP_HEAPTRACK_OUTPUT=$scratch/pipe LD_PRELOAD=$peer "$@"
	wait
	rm pipe
}

# The CPU seconds of a command, with all it starts.
seconds() {
	bash -c '"$@"; times' _ "$@" | tail -n 1 | sed 's/[ms]/ /g' | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }'
}
export -f run_pairs run_perl run_sqlite run_cc run_sort alone with_lode with_heaptrack
export scratch library peer

ways=(alone with_lode)
[ -z "$peer" ] || ways+=(with_heaptrack)
for program in run_pairs run_perl run_sqlite run_cc run_sort; do
	for ((i = 0; i < repetitions; i++)); do
		for way in "${ways[@]}"; do seconds "$way" "$program" >>"$program.$way"; done
	done
done

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf '%-12s %9s %9s %9s %9s %9s\n' program "alone s" "lode s" ratio "heaptr. s" ratio
for program in run_pairs run_perl run_sqlite run_cc run_sort; do
	peer_s=-
	[ -z "$peer" ] || peer_s=$(median "$program.with_heaptrack")
	awk -v name="${program#run_}" -v alone="$(median "$program.alone")" \
		-v lode="$(median "$program.with_lode")" -v peer="$peer_s" 'BEGIN {
		printf "%-12s %9.3f %9.3f %9.2f %9s %9s\n", name, alone, lode, lode / alone, peer,
			peer == "-" ? "-" : sprintf("%.2f", peer / alone) }'
done
