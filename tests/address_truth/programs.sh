#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Steps real programs, those that are there, and demands that no data address is wrong and each rule
# claims its share. Prints TAP.
#
#   tests/address_truth/programs.sh TRACE_TRUTH short|long
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
short) steps=40000 ;;
long) steps=400000 ;;
esac
# shellcheck source=tests/address_truth/workloads.sh
. "$here/workloads.sh"
: >wrong
make_inputs
for name in $(workload_names); do
	workload "$name" || { echo "# no $name" && continue; }
	"$tracer" --from entry --skip 15000 --steps "$steps" --format csv --no-header \
		--name "$name" -- "${words[@]}" >>truth.csv 2>>wrong
	status=$?
	check "$name is stepped" "$([ $status -le 1 ] || tail -n 1 wrong)"
done
demand 20 70 15 85 85
