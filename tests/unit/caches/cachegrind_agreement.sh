#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Compares simulated counts with cachegrind's own of the same programs:
#
#   cachegrind_agreement.sh LODE PROGRAM-WITH-A-LOOP
#
# valgrind runs each program twice, under cachegrind and under lackey, whose trace lode packs and
# replays. Both tools see the same instructions but for what a run differs by in itself (the
# environment, the auxiliary vector), which is told and bounded. TAP; skipped without valgrind.
set -euo pipefail

lode=$(realpath "$1")
own_program=$(realpath "$2")
valgrind=$(command -v valgrind || true)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

if [ -z "$valgrind" ]; then
	echo "1..0 # SKIP valgrind is not installed"
	exit 0
fi

# Small enough that all three levels miss.
i1=4096,2,32 d1=8192,4,64 ll=65536,8,64
hierarchy=i1=4K:2:32,d1=8K:4:64,l2=64K:8:64
export LC_ALL=C
seq 1 300 | sort -R --random-source=/dev/zero >numbers

# run_cachegrind NAME PROGRAM…: "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw" into NAME.cachegrind
run_cachegrind() {
	local name=$1
	shift
	# The names of log files have one length, so that the stack begins at the same place.
	"$valgrind" --tool=cachegrind --cache-sim=yes --I1=$i1 --D1=$d1 --LL=$ll \
		--cachegrind-out-file=cachegrind.out --log-file=log.c "$@" >/dev/null
	sed -n 's/^summary: *//p' cachegrind.out >"$name.cachegrind"
}

# run_lode NAME PROGRAM…: the same nine counts into NAME.lode; a modify counts as a read there.
run_lode() {
	local name=$1
	shift
	"$valgrind" --tool=lackey --trace-mem=yes --log-file=log.l "$@" >/dev/null
	"$lode" trace pack log.l -o trace.rps >/dev/null
	"$lode" trace simulate trace.rps --cache $hierarchy --format csv >counts.csv
	awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{
			# the name of the hierarchy is quoted and has commas
			line = $0; sub(/"[^"]*"/, "x", line); $0 = line
			cache = $column["cache"]
			fetches[cache] = $column["fetch_misses"]
			reads[cache] = $column["load_misses"] + $column["modify_misses"]
			writes[cache] = $column["store_misses"]
		}
		$column["cache"] == "i1" { n_fetches = $column["fetch_accesses"] }
		$column["cache"] == "d1" {
			n_reads = $column["load_accesses"] + $column["modify_accesses"]
			n_writes = $column["store_accesses"]
		}
		END {
			print n_fetches, fetches["i1"], fetches["l2"], n_reads, reads["d1"],
				reads["l2"], n_writes, writes["d1"], writes["l2"]
		}' counts.csv >"$name.lode"
}

# differences NAME: counts that differ by more than 16 and 1 in 10,000; all counts as a comment.
differences() {
	paste -d ' ' "$1.cachegrind" "$1.lode" | awk '
		BEGIN { split("Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw", names) }
		{
			for (i = 1; i <= 9; i++) {
				difference = $(i + 9) - $i
				printf "# %-5s cachegrind %12d  lode %12d  %+d\n", names[i], $i, $(i + 9), difference > "/dev/stderr"
				if (difference < 0)
					difference = -difference
				if (NF != 18 || difference > 16 && difference > $i / 10000)
					print names[i]
			}
		}' 2>table
}

number=0
# agrees NAME PROGRAM…
agrees() {
	local name=$1 wrong
	run_cachegrind "$@"
	run_lode "$@"
	wrong=$(differences "$name" | tr '\n' ' ')
	number=$((number + 1))
	if [ -z "$wrong" ] && [ -s "$name.cachegrind" ]; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name: $wrong"
	fi
	cat table
}

echo 1..3
agrees loop "$own_program"
agrees sort "$(command -v sort)" -n --parallel=1 numbers
# shellcheck disable=SC2016 # awk has variables of its own
agrees awk "$(command -v awk)" '{ sum[$1 % 97] += $1 } END { for (i in sum) print i, sum[i] }' numbers
