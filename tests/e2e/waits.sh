#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What threads waited for, of a program that measures its own waiting. Prints TAP; skips where the
# kernel lets nobody sample, and where there is no compiler or no python3.
#
#   tests/e2e/waits.sh LODE SOURCES      SOURCES: the folder of known_waits.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
export HOME=$work

needs gcc python3
needs_sampling
gcc -g -O2 -pthread "$sources/known_waits.c" -o known_waits 2>err || skip "gcc makes no program"

kinds="lock rwlock condition semaphore barrier join child sleep poll sync pipe unix tcp processor"
echo 1..17

for kind in $kinds; do
	rm -f truth
	"$lode" run -o "$kind.lode" -- ./known_waits "$kind" truth >out 2>err
	status=$?
	"$lode" report "$kind.lode" --waits --format json >waits.json 2>>err
	"$lode" report "$kind.lode" --format json >report.json 2>>err
	check "$kind" "$(status_is 0)" \
		"$(python3 "$sources/known_waits.py" "$kind" truth waits.json report.json 2>&1)"
done

"$lode" report sleep.lode >out 2>err
status=$?
check "the head and the first diagnosis" "$(status_is 0)" \
	"$(holds grep -qE 's by the clock: [0-9]+ % running, [0-9]+ % asleep in nap' out)" \
	"$(holds grep -qE '^D1 .* by the clock  sleeping for a fixed time' out)"

"$lode" report lock.lode --functions --weight waiting --format json >out 2>err
status=$?
check "functions by waiting" "$(status_is 0)" "$(holds grep -q update_table out)"

"$lode" run --no-waits -o none.lode -- ./known_waits join truth >out 2>err
"$lode" report none.lode --waits >out 2>err
status=$?
check "without looks" "$(status_is 1)" "$(holds grep -q 'no waits are known' err)"
