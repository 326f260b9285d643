#!/bin/bash
# SPDX-License-Identifier: MIT
# Mining by 1, 2 and 4 ranks of one thread: whether they store the same bytes, how long they take, what they tell each other,
# and what follows from that for more ranks.
#   bench/ranks.sh PROFILE.lode [MINIMUM [REPETITIONS [BUILD]]]        default: 6%, 3, build-bench
# Of the repetition that took least: "mining" is seconds by the clock, with waiting for whatever else the machine does; all
# others are processor time. "whole" is of the rank that took most, from its start to its end, spinning while it waits
# included; "computed" is for the search, of all ranks and of rank 0.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n 's/^#   //p' "$0" >&2; exit 2; }
profile=$(realpath "$1")
minimum=${2:-6%}
repetitions=${3:-3}
build=${4:-build-bench}
[ -d "$build" ] || meson setup "$build" --buildtype=release -Db_ndebug=true >/dev/null
ninja -C "$build" src/cli/lode >/dev/null
lode=$PWD/$build/src/cli/lode
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mpicc -O2 bench/allreduce.c -o "$scratch/allreduce"
cd "$scratch"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base=/tmp

# mine RANKS: leaves RANKS.out of the repetition that computed least, and what is stored in RANKS.sql
mine() {
	local ranks=$1 start=() least='' computed
	[ "$ranks" = 1 ] || start=(mpirun -n "$ranks")
	for _ in $(seq "$repetitions"); do
		cp "$profile" x.lode
		"${start[@]}" /usr/bin/time -f 'whole %U %S %e %M' "$lode" mine x.lode --gap 1 --window 1 \
			--min-support "$minimum" --threads 1 >out 2>&1
		computed=$(awk '$1 == "whole" { sum += $2 + $3 } END { print sum }' out)
		if [ -z "$least" ] || awk -v a="$computed" -v b="$least" 'BEGIN { exit !(a < b) }'; then
			least=$computed
			cp out "$ranks.out"
		fi
	done
	sqlite3 x.lode "update run set seconds = 0"
	sqlite3 x.lode .dump | sha256sum >"$ranks.sum"
}

for ranks in 1 2 4; do mine $ranks; done
printf '%-7s %-6s %10s %18s %15s %10s %8s  %s\n' ranks bytes "mining, s" "whole, of longest" "computed, all" "by rank 0" \
	"MB peak" "exchanged"
for ranks in 1 2 4; do
	same=$(cmp -s 1.sum $ranks.sum && echo same || echo DIFFER)
	awk -v ranks=$ranks -v same="$same" '
		/sequences in/ { for (i = 1; i < NF; i++) if ($i == "in") mining = $(i + 1) }
		/ ranks: / { all = $0; sub(/.*computed /, "", all); own = all; sub(/ s,.*/, "", all)
			sub(/.*rank 0 /, "", own); sub(/ s .*/, "", own)
			told = $0; sub(/.* ranks: /, "", told); sub(/; they.*/, "", told) }
		$1 == "whole" { if ($2 + $3 > cpu) cpu = $2 + $3; if ($5 > peak) peak = $5 }
		END { printf "%-7s %-6s %10s %18.2f %15s %10s %8.0f  %s\n", ranks, same, mining, cpu, all == "" ? "–" : all,
			own == "" ? "–" : own, peak / 1000, told == "" ? "–" : told }' $ranks.out
done

echo
echo "MPI_Allreduce of two ranks here, the fastest:"
mpirun -n 2 ./allreduce | tee allreduce.out | awk '{ printf "  %8d doubles  %10.1f µs\n", $1, 1e6 * $2 }'

# The model: each rank reads all recordings; D recordings of different code take D times as long, in as many tasks as one; R ranks
# are as many times as fast as docs/use/ranks.md says; each task is taken by a message to the first rank and back, and what was
# found is added up in 2 log2 R messages, for which each rank sends and receives its numbers twice (R. Rabenseifner,
# "Optimization of collective reduction operations", 2004).
echo
echo "MODEL, not measured: seconds of D recordings, of different code, over R ranks: reading + computing + messages"
awk '
	FILENAME == "allreduce.out" { if ($1 == 1) latency = $2 / 2; largest = $1; seconds = $2; next }
	/ ranks: / { gsub(/\xc2\xa0/, " "); prepare = $0; sub(/.*after /, "", prepare); prepare += 0; work = $0; sub(/.*computed /, "", work); work += 0
		bytes = $3; if ($4 == "kB") bytes *= 1e3; if ($4 == "MB") bytes *= 1e6; if ($4 == "GB") bytes *= 1e9 }
	END {
		rate = 2 * largest * 8 / seconds
		printf "  latency %.1f µs, %.2f GB/s; of a recording %.2f s of reading, %.2f s of computing, %.1f MB found\n",
			latency * 1e6, rate / 1e9, prepare, work, bytes / 1e6
		printf "  %8s", "D \\ R"
		split("1 2 64 1024", rs); split("1 2 25 26", times); split("1 100 10000", ds)
		for (r = 1; r <= 4; r++) printf " %20d", rs[r]
		print ""
		for (d = 1; d <= 3; d++) {
			printf "  %8d", ds[d]
			for (r = 1; r <= 4; r++) {
				told = rs[r] == 1 ? 0 : (6 * log(rs[r]) / log(2) + 2 * 16 * rs[r]) * latency + 4 * bytes / rate
				printf " %20s", sprintf("%.1f+%.1f+%.2f", ds[d] * prepare, ds[d] * work / times[r], told)
			}
			print ""
		}
	}' allreduce.out 2.out
