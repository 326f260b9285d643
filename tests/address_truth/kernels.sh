#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Steps the kernels, built by each compiler at each level, with one thread and two, and demands
# that no data address is wrong and each rule claims its share. Prints TAP.
#
#   tests/address_truth/kernels.sh TRACE_TRUTH KERNELS quick|short|long
set -uo pipefail
# shellcheck source=tests/address_truth/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
here=$(realpath "$here")
tracer=$(realpath "$1")
kernels=$(realpath "$2")
length=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
can_trace "$tracer"

case $length in
quick) levels=(O0 O2) steps=3000 sizes=(150) all_threads=(2) ;;
short) levels=(O0 O1 O2 O3) steps=6000 sizes=(150) all_threads=(1 2) ;;
long) levels=(O0 O1 O2 O3) steps=30000 sizes=(100 2000) all_threads=(1 2) ;;
esac

# trace NAME THREADS ELEMENTS: 0 right, 1 something is wrong, which the table says too.
trace() {
	local skip=1500
	case $1 in # the making of their data
	arguments*) skip=$((4500 * $2)) ;;
	overwriting*) skip=$((12000 * $2)) ;;
	esac
	"$tracer" --from main --skip $skip --steps "$steps" --format csv --no-header \
		--name "$1-$2" -- "./$1" "$2" "$3" 2 >>truth.csv 2>>wrong
	[ $? -le 1 ] || broken+="$1 cannot be stepped; "
}

build() {
	"$1" -D_GNU_SOURCE -"$2" -g -pthread -o "$3" "$kernels/$4.c" >>log 2>&1 ||
		broken+="$3 does not compile; "
}

: >wrong
for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || { echo "# no $compiler" && continue; }
	for level in "${levels[@]}"; do
		broken=
		for source in "$kernels"/*.c; do
			name=$(basename "$source" .c)
			build "$compiler" "$level" "$name-$compiler-$level" "$name"
			for size in "${sizes[@]}"; do
				for threads in "${all_threads[@]}"; do
					trace "$name-$compiler-$level" "$threads" "$size"
				done
			done
		done
		check "$compiler -$level is built and stepped" "$broken"
	done
done
demand 24 90 44 94 94
