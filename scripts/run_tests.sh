#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs the tests of a build directory and counts the cases in them. The last line is
# "N passed, N failed"; the exit status is 0 when none failed and some passed.
#
#   scripts/run_tests.sh DIRECTORY [ARGUMENT OF 'meson test' …]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

directory=$1
shift
# An old log would be counted in place of the one that a broken run did not write.
rm -f "$directory"/meson-logs/testlog*.json
# The count below decides, not this status: it also sees the cases that stand behind one test.
# Under nohup the hangup signal is ignored, behind "&" in a script those of Ctrl-C and Ctrl-\, and
# shells could not take them up again for their tests.
# One more than there are processors: some tests wait most of the time.
# Time limits are for what hangs: a busy machine, or a sanitizer, makes a test slower, not wrong.
env --default-signal=HUP,INT,QUIT \
	meson test -C "$directory" --no-rebuild --print-errorlogs --num-processes "$(($(nproc) + 1))" \
	--timeout-multiplier 10 "$@" || true
# A set-up's name is part of the name of its log.
python3 scripts/count_tests.py "$directory"/meson-logs/testlog*.json
