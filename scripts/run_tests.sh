#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs the tests of a build directory and counts the cases in them. The last line is
# "N passed, N failed"; the exit status is 0 when none failed and some passed.
#
# A test of the suite "timing" measures a program while others run, and what falls into it is chance:
# one that failed is run once more, by itself, and fails if it fails again. Which ones were is printed;
# scripts/soak.sh (LODE_TEST_ONCE in the environment) forgives none.
#
#   scripts/run_tests.sh DIRECTORY [--part K/N SUITE,…] [ARGUMENT OF 'meson test' …]
#
# With --part, of the tests of these suites only every N-th is run (scripts/part_of_tests.py).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

directory=$1
shift
names=()
if [ "${1:-}" = --part ]; then
	part=$2
	IFS=, read -ra suites <<<"$3"
	shift 3
	names_text=$(python3 scripts/part_of_tests.py "$directory" "$part" "${suites[@]}")
	mapfile -t names <<<"$names_text"
	echo "part $part of the suites ${suites[*]}, and all other tests"
fi
# An old log would be counted in place of the one that a broken run did not write.
rm -f "$directory"/meson-logs/{testlog,again}*.json

# run_meson ARGUMENT…
run_meson() {
	env --default-signal=HUP,INT,QUIT meson test -C "$directory" --no-rebuild --print-errorlogs \
		--timeout-multiplier 10 "$@" || true
}

# The count below decides, not this status: it also sees the cases that stand behind one test.
# Under nohup the hangup signal is ignored, behind "&" in a script those of Ctrl-C and Ctrl-\, and
# shells could not take them up again for their tests.
# Twice as many as there are processors: tests wait half of the time.
# Time limits are for what hangs: a busy machine, or a sanitizer, makes a test slower, not wrong.
run_meson --num-processes "$(($(nproc) * 2))" "$@" "${names[@]}"
# A set-up's name is part of the name of its log.
logs=("$directory"/meson-logs/testlog*.json)
mapfile -t timed < <(python3 scripts/count_tests.py --failed-timing "${logs[@]}")
if [ ${#timed[@]} -gt 0 ] && [ -z "${LODE_TEST_ONCE:-}" ]; then
	run_meson --logbase again --num-processes 1 "$@" "${timed[@]}"
	logs+=("$directory"/meson-logs/again*.json)
fi
python3 scripts/count_tests.py "${logs[@]}"
