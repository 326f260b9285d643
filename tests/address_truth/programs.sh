#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Steps real programs, those that are there, and demands that no data address is wrong and each rule
# claims its share. Prints TAP.
#
#   tests/address_truth/programs.sh TRACE_TRUTH quick|short|long
set -uo pipefail
# shellcheck source=tests/address_truth/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
here=$(realpath "$here")
tracer=$(realpath "$1")
length=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8 HOME=$work
can_trace "$tracer"

case $length in
quick) steps=6000 places=(2) ;;
short) steps=15000 places=(0 2 4) ;;
long) steps=150000 places=(0 2 4) ;;
esac
# shellcheck source=tests/address_truth/workloads.sh
. "$here/workloads.sh"
: >wrong
make_inputs
# How many system calls the program makes: a measure of where in its work it is that is the same each time.
calls_of() {
	"$tracer" --main-only --from entry --calls 1000000 -- "$@" 2>&1 |
		sed -nE 's/.* ends after ([0-9]+) system calls/\1/p'
}

# step OPTION…: the program of `words`.
step() {
	"$tracer" --steps "$steps" --format csv --no-header --name "$name" "$@" -- "${words[@]}" \
		>>truth.csv 2>>wrong
	[ $? -le 1 ] || tail -n 1 wrong
}

# step_after FIFTHS: of its system calls.
step_after() {
	if [ "$1" -eq 0 ]; then
		step --from entry
	else
		step --main-only --from entry --calls $((calls * $1 / 5))
	fi
}

for name in $(workload_names); do
	workload "$name" || { echo "# no $name" && continue; }
	calls=$(calls_of "${words[@]}")
	faults=()
	for fifths in "${places[@]}"; do
		faults+=("$(step_after "$fifths")")
	done
	check "$name is stepped" "${faults[@]}"
done
# Well below what was measured: where in its work a program is stepped differs with its input, and
# the steps of a repeated string instruction can make up most of it.
demand 20 80 22 88 88
