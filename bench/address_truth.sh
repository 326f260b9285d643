#!/bin/bash
# SPDX-License-Identifier: MIT
# Data addresses against the truth: of each rule, how many points it claims and how many of these
# claims are wrong; and of timer samples, for how many an address is found.
#   bench/address_truth.sh [STEPS]     per stretch of a program that is stepped; default: 20000;
#                                      0: timer samples only
# Programs are stepped by tests/address_truth/trace_truth in three stretches (from the entry, and
# after a half and four fifths of their system calls), kernels are built by gcc and clang at -O0 to
# -O3 and stepped with one thread and with two.
set -euo pipefail
cd "$(dirname "$0")/.."
steps=${1:-20000}
root=$PWD
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode tests/address_truth/trace_truth \
	tests/address_truth/resolve_samples >/dev/null
tracer=$root/build-bench/tests/address_truth/trace_truth
resolver=$root/build-bench/tests/address_truth/resolve_samples
lode=$root/build-bench/src/cli/lode
kernels=$root/tests/address_truth/kernels
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C.UTF-8 HOME=$scratch
# shellcheck source=tests/address_truth/checks.sh
. "$root/tests/address_truth/checks.sh"
# shellcheck source=tests/address_truth/workloads.sh
. "$root/tests/address_truth/workloads.sh"

# trace NAME OPTION… -- COMMAND…: status 1 is for wrong claims, which the table shows.
trace() {
	local name=$1
	shift
	"$tracer" --steps "$steps" --format csv --no-header --name "$name" "$@" >>truth.csv 2>>wrong ||
		[ $? -eq 1 ]
}

calls_of() {
	{ "$tracer" --main-only --from entry --calls 1000000 -- "$@" 2>&1 || true; } |
		sed -nE 's/.* ends after ([0-9]+) system calls/\1/p'
}

# One row of a table per program: shares of all points (forward: of those that access nothing).
rows() {
	awk -F, '
		{
			if (!($1 in seen)) { seen[$1] = ++n; name[n] = $1 }
			points[$1, $2] += $3; claimed[$1, $2] += $4; wrong[$1, $2] += $7
			unverified[$1, $2] += $6
			points["all", $2] += $3; claimed["all", $2] += $4; wrong["all", $2] += $7
			unverified["all", $2] += $6; refuted += $NF
			if ($2 == "waited") { late += $(NF - 5); same += $(NF - 4) }
		}
		function cell(program, rule) {
			return sprintf("%10.2f %5d", 100 * claimed[program, rule] / points[program, rule],
				wrong[program, rule])
		}
		function row(program) {
			printf "%-18s %9d %s %s %s %s %s %s %s %10d\n", program, points[program, "at-pc"],
				cell(program, "at-pc"), cell(program, "forward"), cell(program, "backward"),
				cell(program, "waited"), cell(program, "together"), cell(program, "trigger-before"),
				cell(program, "stepped"),
				unverified[program, "backward"]
		}
		END {
			printf "%-18s %9s %16s %16s %16s %16s %16s %16s %16s %10s\n", "program", "points",
				"at-pc % wrong", "forward % wrong", "backward % wrong", "waited % wrong",
				"together % wrong",
				"counter % wrong", "stepped % wrong", "unverified"
			for (i = 1; i <= n; i++) row(name[i])
			row("all")
			printf "next-round: %d true of the next round, %d of these also of the sampled one\n",
				late, same
			printf "truths that memory or registers contradict: %d\n", refuted
		}' truth.csv
}

step_kernels() {
	local source name compiler level threads
	for source in "$kernels"/*.c; do
		name=$(basename "$source" .c)
		for compiler in gcc clang; do
			for level in O0 O1 O2 O3; do
				"$compiler" -D_GNU_SOURCE -$level -g -pthread -o "$name" "$source"
				for threads in 1 2; do
					trace "$name" --from main --skip 1500 -- "./$name" $threads 500 2
				done
			done
		done
	done
}

step_programs() {
	local name calls
	for name in $(workload_names); do
		workload "$name" || continue
		calls=$(calls_of "${words[@]}")
		trace "$name" --from entry -- "${words[@]}"
		trace "$name" --main-only --from entry --calls $((calls / 2)) -- "${words[@]}"
		trace "$name" --main-only --from entry --calls $((calls * 4 / 5)) -- "${words[@]}"
	done
}

# sample COMMAND…
sample() {
	rm -rf recording
	"$lode" memory record -e cpu-clock:u -F 5000 --no-page-faults --keep-recording recording \
		-o x.lode -- "$@" >/dev/null 2>log || { cat log >&2 && return 1; }
}

# resolve NAME OPTION…: without what was recorded of the stacks, and with it.
resolve() {
	local name=$1
	shift
	"$resolver" "$@" --stack 0 --name "$name, no stack" recording/perf.data || true
	"$resolver" "$@" --name "$name" recording/perf.data || true
}

sample_kernels() {
	local source name
	for source in "$kernels"/*.c; do
		name=$(basename "$source" .c)
		gcc -D_GNU_SOURCE -O2 -g -pthread -o "$name" "$source"
		KERNEL_BOUNDS=bounds sample "./$name" 3 20000 "$(($(rounds "$name") * 3))"
		resolve "$name, 3 threads" --bounds bounds
	done
}

sample_programs() {
	local name
	for name in $(workload_names); do
		workload "$name" || continue
		sample "${words[@]}"
		resolve "$name"
	done
}

if ! "$tracer" --steps 100 -- true >/dev/null 2>&1; then
	echo "programs cannot be stepped here" >&2
	exit 1
fi
: >wrong
if [ "$steps" -gt 0 ]; then
	make_inputs
	step_kernels
	step_programs
	rows
	cat wrong
fi
if ! "$lode" record -o trial -e cpu-clock:u -- true 2>log; then
	cat log >&2
	exit 1
fi
echo
input_bytes=60000000 input_lines=1500000
export sqlite_rows=800000 zstd_level=9 lz4_level=9 xz_level=3
rm -rf repository
make_inputs
sample_kernels
sample_programs
