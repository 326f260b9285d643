#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tests the names of objects, in programs whose functions each access random elements of one object,
# so that each load waits for memory. Prints TAP; skips where sampling is not allowed, and languages
# without a compiler.
#
#   tests/e2e/named_objects.sh LODE SOURCES
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
needs_sampling

# record OPTION… -- COMMAND…
record() {
	"$lode" memory record -F 2000 --no-page-faults -o x.lode "$@" >out 2>err
	status=$?
}

# is_object FUNCTION OBJECT LEAST [MOST]: percent of the waits of a function.
is_object() {
	"$lode" memory x.lode --by object --format csv --where \
		"function =~ \"^$1(\\\\.|\$)\" && (has(address) || reason != \"not-memory\")" 2>>err | python3 -c '
import csv, sys
function, name, least, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rows = [row for row in csv.DictReader(sys.stdin) if row["kind"] == "value"]
total = sum(float(row["weight"]) for row in rows)
its = sum(float(row["weight"]) for row in rows if row["object"] == name)
if total == 0: print("no sample of", function)
elif not least <= 100 * its / total <= most:
    print("%.1f %% of %s is %s" % (100 * its / total, function, name),
        [(row["object"], row["samples"]) for row in rows])' "$1" "$2" "$3" "${4:-100}"
}

mapping_objects() {
	is_object walk_file "$work/numbers" 85
	is_object walk_shared "${1:-[shared memory]}" 85
	is_object walk_shared_cells 'struct cell.rest' 85
	is_object walk_own 'uint32_t own[]' 85
	is_object walk_own_cells 'struct cell.value' 85
}
builds=("clang -O2" "gcc -O2 -static")
[ -z "${LODE_LONG_TESTS:-}" ] || builds+=("gcc -O2" "clang -O1 -static" "gcc -O3 -static-pie")
for build in "${builds[@]}"; do
	read -ra command <<<"$build"
	command -v "${command[0]}" >/dev/null || continue
	"${command[@]}" -g -o mappings "$sources/mappings.c" -pthread 2>err || continue
	record -- ./mappings numbers
	check "files, shared memory and thread-local arrays, $build" "$(status_is 0)" "$(mapping_objects)"
done
if gcc -O2 -g -o mappings "$sources/mappings.c" -pthread 2>err; then
	line=$(grep -n 'MAP_SHARED | MAP_ANON' "$sources/mappings.c" | cut -d : -f 1)
	record --allocations -- ./mappings numbers
	check "shared memory with its site" "$(status_is 0)" \
		"$(mapping_objects "mmap@mappings.c:$((line - 1))")"
fi

# The shares of two arrays, which have 70 and 30 % of the accesses by chance; how long each waits is
# the machine's. Optimised code does not always say where they are; none is taken for the other.
length_objects() {
	is_object walk 'uint32_t first[]' "$1" 85
	is_object walk 'struct cell.rest' "$2" 60
}
for build in "gcc -O0" "clang -O0" "gcc -O2"; do
	read -ra command <<<"$build"
	command -v "${command[0]}" >/dev/null || continue
	"${command[@]}" -g -o lengths "$sources/lengths.c" 2>err || continue
	record -- ./lengths
	least=(30 15)
	[ "$build" != "gcc -O2" ] || least=(30 0)
	check "arrays of variable length, $build" "$(status_is 0)" "$(length_objects "${least[@]}")"
done

fortran_objects() {
	is_object __arrays_MOD_walk_numbers 'integer(kind=4) numbers[]' 85
	is_object __arrays_MOD_walk_grid 'real(kind=8) grid[]' 85
	is_object __arrays_MOD_walk_own 'integer(kind=4) own[]' 85
}
for level in 0 2; do
	command -v gfortran >/dev/null || continue
	gfortran -g -O$level -J . -o arrays "$sources/arrays.f90" 2>err || continue
	record -- ./arrays
	check "Fortran's allocatable arrays, -O$level" "$(status_is 0)" "$(fortran_objects)"
done

echo "1..$number"
