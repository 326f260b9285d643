#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# How lode run divides the processor time of a program that knows how much of it the kernel has, and
# that it samples more often at first. Prints TAP.
#
#   tests/e2e/processor_time.sh LODE PROGRAMS      PROGRAMS: the folder of processor_time.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"

needs sqlite3 gcc
needs_sampling
gcc -O2 "$programs/processor_time.c" -o known 2>err || skip "gcc makes no program"

fact() { sqlite3 x.lode "SELECT value FROM meta WHERE key = '$1'"; }
# run SHARE OPTION…
run() {
	local share=$1
	shift
	rm -f x.lode
	"$lode" run -e cpu-clock -o x.lode "$@" -- ./known "$share" >out 2>err
	status=$?
	truth=$(<out)
	said=$(awk -v user="$(fact user_seconds)" -v kernel="$(fact system_seconds)" \
		'BEGIN { print 100 * kernel / (user + kernel) }')
}
# Time that others took from the machine was nobody's. Clocks are read in user mode, and windows are
# time that the program measures, too.
is_true() {
	awk -v said="$said" -v truth="$truth" -v steal="$(fact steal_share)" \
		'BEGIN { error = said - truth; exit !(error < 5 + 100 * steal && error > -5) }' ||
		echo "$said % in the kernel, not $truth %"
}

echo 1..5
for share in 3 30; do
	run "$share" --windows off
	check "$share % in the kernel" "$(status_is 0)" "$(is_true)"
done
run 30
check "with windows" "$(status_is 0)" "$(is_true)"
run 30 --kernel
check "with samples of the kernel" "$(status_is 0)" "$(is_true)"

# Where it samples by time for want of a PMU.
rm -f x.lode
"$lode" run --windows off -o x.lode -- ./known 30 >out 2>err
status=$?
"$lode" info x.lode >facts 2>&1
rate=$(sed -n 's/.*sampled \([0-9]*\) times a second, [0-9]* at first.*/\1/p' facts | head -n 1)
if [ -z "$rate" ]; then
	echo "ok 5 # SKIP not sampled by time, or as often later as at first"
	exit 0
fi
weight=$(sqlite3 x.lode "SELECT total FROM event WHERE name = 'cpu-clock'")
check "more often at first: samples, and the time that they stand for" "$(status_is 0)" \
	"$(awk -v n="$(fact samples)" -v rate="$rate" -v ns="$weight" \
		'BEGIN { exit !(n > rate * ns / 1e9) }' || echo "$(fact samples) samples of $weight ns")" \
	"$(awk -v ns="$weight" -v user="$(fact user_seconds)" \
		'BEGIN { exit !(ns > 0.9e9 * user && ns < 1.02e9 * user) }' ||
		echo "$weight ns of $(fact user_seconds) s")"
