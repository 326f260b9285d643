#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Records the kernels with three threads by timer and demands that each address found is in the
# thread's own arrays, on its stack, or a global. Prints TAP; skips where the kernel lets nobody
# sample.
#
# Three times as long where LODE_LONG_TESTS is in the environment.
#
#   tests/address_truth/threads.sh RESOLVE_SAMPLES LODE KERNELS
set -uo pipefail
# shellcheck source=tests/address_truth/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
here=$(realpath "$here")
resolver=$(realpath "$1")
lode=$(realpath "$2")
kernels=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8

if ! refusal=$("$lode" record -o trial -e cpu-clock:u --user-regs -d -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
# least KERNEL: the share that has to be resolved of what accesses memory. The interpreter's loads
# overwrite their indexes, and it has thread-local data.
least() {
	case $1 in
	interpreter) echo 0.5 ;;
	*) echo 0.9 ;;
	esac
}

for source in "$kernels"/*.c; do
	name=$(basename "$source" .c)
	fault=
	gcc -D_GNU_SOURCE -O2 -g -pthread -o "$name" "$source" || fault="does not compile"
	rm -rf recording
	KERNEL_BOUNDS=bounds timeout 60 "$lode" memory record -e cpu-clock:u -F 5000 --no-page-faults \
		--keep-recording recording -o x.lode -- "./$name" 3 20000 "$(rounds "$name")" \
		>/dev/null 2>err ||
		fault="is not recorded: $(tail -n 1 err)"
	line=$("$resolver" --bounds bounds --name "$name" --format csv --no-header recording/perf.data 2>wrong)
	status=$?
	[ $status -eq 0 ] || fault+=" $(head -n 3 wrong | tr '\n' ';')"
	echo "# $line"
	check "$name: no address is another thread's" "$fault" "$(echo "$line" | awk -F, -v least="$(least "$name")" '
		$2 < 100 { print "only " $2 " samples" }
		$4 < least { print "only " 100 * $4 " % resolved" }')"
done
echo "1..$number"
