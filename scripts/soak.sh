#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What takes longer than a test run may, or depends on chance: once the truth of data addresses over
# all kernels and programs, the shares of waits that programs measure themselves, traces of many
# references, a placement on an emulated machine, and the tests that have a longer form, under the
# sanitizers too; then the random tests, round after round, with seeds that no run had before.
#
#   scripts/soak.sh [MINUTES]          for the random tests; until it is interrupted unless given
#   scripts/soak.sh --timing [ROUNDS]  instead of all that, the tests that depend on time, processes,
#                                      threads or sockets (suite "timing"), round after round (20),
#                                      while four times as many busy loops run as there are processors
#   scripts/soak.sh --processors [ROUNDS]
#                                      instead, the same tests, each round (10) as if on another
#                                      machine: lode takes the processor for one of another family,
#                                      in turn; every second round runs on one processor, every third
#                                      beside eight busy loops
#   scripts/soak.sh --windows [ROUNDS] instead, programs of odd kinds with windows and without
#                                      (1,000), each round with another seed, while as many busy loops
#                                      run as there are processors; then a table of the kinds
#
# A seed that fails is printed; it belongs into the list of the test (add_random_test()), or, where
# the test makes its own generators, LODE_SOAK_SEED=SEED in its environment shows the failure again.
# The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

minutes=${1:-}
rounds=0
mode=
case $minutes in
--timing | --windows)
	mode=$minutes
	minutes=
	rounds=${2:-20}
	[ "$mode" = --timing ] || rounds=${2:-1000}
	shift
	;;
--processors)
	mode=$minutes
	minutes=
	rounds=${2:-10}
	shift
	;;
esac
if [[ ! $minutes =~ ^[0-9]*$ || ! $rounds =~ ^[0-9]+$ || $# -gt 1 ]]; then
	echo "usage: scripts/soak.sh [MINUTES | --timing [ROUNDS] | --processors [ROUNDS] | --windows [ROUNDS]]" >&2
	exit 2
fi
scripts/setup.sh --test && scripts/build.sh build || exit 1
build=$PWD/build
passed=0
failed=0
log=$(mktemp)
export LODE_ODD_TABLE
LODE_ODD_TABLE=$(mktemp)
loops=()
end_loops() {
	[ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"
	loops=()
}
# shellcheck disable=SC2317 # called by the trap
leave() {
	end_loops
	rm -f "$log" "$LODE_ODD_TABLE"
}
trap leave EXIT

# Prints what windows changed, over all rounds.
print_kinds() {
	[ ! -s "$LODE_ODD_TABLE" ] || awk '
		{ changed[$1] += $2; runs[$1] += $3; windows[$1] += $4; steps[$1] += $5 }
		END {
			printf "%-28s %7s %7s %9s %11s\n", "kind", "changed", "runs", "windows", "steps"
			fflush()
			for (kind in runs)
				printf "%-28s %7d %7d %9d %11d\n", kind, changed[kind], runs[kind],
					windows[kind], steps[kind] | "sort"
		}' "$LODE_ODD_TABLE"
}
finish() {
	print_kinds
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}
trap finish INT TERM

# soak NAME COMMAND…: its output is shown where it fails. Of TAP, "not ok" is a failure.
soak() {
	local name=$1 status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ $status -eq 0 ] && ! grep -q '^not ok' "$log"; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		grep -vE '^ *[0-9]+/[0-9]+ .* (OK|SKIP) ' "$log" | tail -n 200
	fi
}

# odd_kinds RUNS: windows_odd.sh with a seed that no run had before.
odd_kinds() {
	local seed
	seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
	soak "odd kinds with windows, $1 runs with seed $seed" \
		env LODE_ODD_RUNS="$1" LODE_WINDOWS_SEED="$seed" tests/e2e/windows_odd.sh "$build/src/cli/lode" \
		"$build/tools/preload/windows/liblode-windows.so" "$build/tests/e2e/odd" \
		tests/e2e/windows_odd/exceptions.cpp "$build/tests/e2e/odd_own_calls"
}

# begin_loops N: busy ones.
begin_loops() {
	local i
	for ((i = 0; i < $1; i++)); do
		while :; do :; done &
		loops+=($!)
	done
}

# One of each family whose figures lode has (src/images/cores/cores.ini), or has not: the last, and
# this machine's own, which is "".
families=("" "AuthenticAMD,23,49,0" "AuthenticAMD,25,1,1" "AuthenticAMD,25,17,1" "AuthenticAMD,26,2,1"
	"GenuineIntel,6,85,4" "GenuineIntel,6,106,6" "GenuineIntel,6,143,8" "GenuineIntel,6,151,2" "GenuineIntel,6,63,2")

# as_elsewhere ROUND: the tests of time as on another machine.
as_elsewhere() {
	local n=${#families[@]} where="all processors" on=()
	local family=${families[$(($1 % n))]}
	# Another half of the families the next time.
	if ((($1 + $1 / n) % 2 == 0)); then
		where="one processor"
		on=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')")
	fi
	if (($1 % 3 == 0)); then
		where+=" beside eight busy loops"
		begin_loops 8
	fi
	soak "tests of time, round $1 of $rounds, as on ${family:-this processor}, $where" \
		env LODE_TEST_ONCE=1 LODE_PROCESSOR="$family" "${on[@]}" scripts/run_tests.sh "$build" --suite timing
	end_loops
}

if [ "$mode" = --processors ]; then
	for ((round = 1; round <= rounds; round++)); do as_elsewhere "$round"; done
	finish
fi
if [ -n "$mode" ]; then
	n_loops=$(nproc)
	[ "$mode" = --windows ] || n_loops=$((4 * n_loops))
	begin_loops "$n_loops"
	for ((round = 1; round <= rounds; round++)); do
		if [ "$mode" = --windows ]; then
			odd_kinds 1
		else
			soak "tests of time, round $round of $rounds" env LODE_TEST_ONCE=1 scripts/run_tests.sh "$build" --suite timing
		fi
	done
	finish
fi

odd_kinds 20
soak "1,000 runs of a stress of windows" tests/unit/preload/windows/stress.sh \
	"$build/tools/preload/windows/liblode-windows.so" "$build/tests/unit/preload/windows_stress" 1000

truth=$PWD/tests/address_truth
soak "truth of kernels" "$truth/kernels.sh" "$build/tests/address_truth/trace_truth" "$truth/kernels" short
soak "truth of programs" "$truth/programs.sh" "$build/tests/address_truth/trace_truth" short
soak "known shares of data" tests/insight/known_shares.py "$build/src/cli/lode" tests/insight/known_shares.c all 3
soak "memory of traces of 30 million references" "$build/tests/unit/traces/test_trace_file_memory" 30
if command -v qemu-system-x86_64 >/dev/null && [ -x /bin/busybox ] && command -v cpio >/dev/null; then
	soak "placement on an emulated machine" tests/emulated/two_nodes.sh
else
	echo "skipped: placement on an emulated machine (tests/emulated/two_nodes.sh names the packages)"
fi

# tests_with DIRECTORY WORD: those whose program, or a script that it is given, contains it.
tests_with() {
	python3 - "$1" "$2" <<'END'
import json, os, sys
def contains(path):
    with open(path, "rb") as program:
        return sys.argv[2].encode() in program.read()
for test in json.load(open(f"{sys.argv[1]}/meson-info/intro-tests.json")):
    if any(os.path.isfile(word) and contains(word) for word in test["cmd"][:2]):
        print(test["name"])
END
}

mapfile -t tests < <(tests_with "$build" LODE_LONG_TESTS)
soak "${#tests[@]} tests in their longer form" env LODE_LONG_TESTS=1 meson test -C "$build" --no-rebuild \
	--print-errorlogs --num-processes "$(nproc)" --timeout-multiplier 10 "${tests[@]}"

# The same under the sanitizers, with which CI runs a third of the rounds and some of the cases.
if command -v clang >/dev/null && CC=clang scripts/build.sh build-soak -Db_sanitize=address,undefined \
	-Db_lundef=false -Dbenchmarks=false -Dc_args=-fno-sanitize=pointer-overflow; then
	mapfile -t tests < <(for word in LODE_LONG_TESTS LODE_SHORT_TESTS; do tests_with build-soak "$word"; done | sort -u)
	soak "${#tests[@]} tests in their longer form under ASan and UBSan" env LODE_LONG_TESTS=1 \
		G_SLICE=always-malloc LSAN_OPTIONS="suppressions=$PWD/tests/leaks.supp:print_suppressions=0" \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 meson test -C build-soak --no-rebuild \
		--no-suite plain --no-suite memory --no-suite truth --print-errorlogs \
		--num-processes "$(nproc)" --timeout-multiplier 50 "${tests[@]}"
else
	echo "skipped: longer forms under ASan and UBSan (there is no clang)"
fi

# The tests whose program takes its seeds from tests/unit/seeds.h, so can be given another.
mapfile -t tests < <(tests_with "$build" LODE_SOAK_SEED)
if [ ${#tests[@]} -eq 0 ]; then
	echo "FAILED there are no random tests"
	failed=$((failed + 1))
	finish
fi
end=$((SECONDS + 60 * ${minutes:-0}))
while [ -z "$minutes" ] || [ $SECONDS -lt $end ]; do
	seed=R02S$(od -An -N16 -tx4 /dev/urandom | tr -d ' \n')
	soak "${#tests[@]} random tests with seed $seed" env LODE_SOAK_SEED="$seed" \
		meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$(nproc)" \
		--timeout-multiplier 10 "${tests[@]}"
done
finish
