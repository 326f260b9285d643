#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The lines at which programs in Python wait, which measure their own waiting. Prints TAP; skips
# where the kernel lets nobody sample, and where there is no CPython from 3.8 to 3.14.
#
#   tests/e2e/script_waits.sh LODE SOURCES      SOURCES: the folder of known_waits.py
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
export HOME=$work

needs python3
needs_sampling
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" -c 'import sys
sys.exit(sys.implementation.name != "cpython" or not (3, 8) <= sys.version_info < (3, 15))' ||
	skip "no CPython from 3.8 to 3.14"
program=$sources/scripts/waiting.py

echo 1..6

for kind in sleep child answer queue latch; do
	rm -f truth
	"$lode" run -o "$kind.lode" -- "$python" "$program" "$kind" truth >out 2>err
	status=$?
	"$lode" report "$kind.lode" --waits --format json >waits.json 2>>err
	"$lode" report "$kind.lode" --format json >report.json 2>>err
	check "$kind" "$(status_is 0)" \
		"$(python3 "$sources/known_waits.py" "$kind" truth waits.json report.json "$program" 2>&1)"
done

"$lode" report sleep.lode --lines --weight waiting --format json >lines.json 2>err
status=$?
check "lines by waiting" "$(status_is 0)" "$(holds grep -q 'waiting.py' lines.json)"
