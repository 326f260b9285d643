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

kinds="lock rwlock condition semaphore barrier join child output signal short sleep poll sync pipe unix tcp epoll processor"
echo 1..23

for kind in $kinds; do
	rm -f truth
	"$lode" run -o "$kind.lode" -- ./known_waits "$kind" truth >out 2>err
	status=$?
	"$lode" report "$kind.lode" --waits --format json >waits.json 2>>err
	"$lode" report "$kind.lode" --format json >report.json 2>>err
	check "$kind" "$(status_is 0)" \
		"$(python3 "$sources/known_waits.py" "$kind" truth waits.json report.json 2>&1)"
done

"$lode" run -o watcher.lode -- ./known_waits watcher truth >out 2>err
status=$?
"$lode" report watcher.lode --waits --format json >waits.json 2>>err
"$lode" report watcher.lode --format json >report.json 2>>err
check "a thread that watches" "$(status_is 0)" "$(holds python3 -c 'import json
watching = [one for one in json.load(open("waits.json"))["waits"] if one["reason"] == "pipe"]
assert watching and all(one["idle"] for one in watching), watching
causes = [one["cause"] for one in json.load(open("report.json"))["diagnoses"]]
assert "wait-pipe" not in causes, causes' 2>&1)"

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

# The kernel refuses to tell an ordinary user what a program waits for that hides its memory.
as_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

mkdir -m 777 theirs
cd theirs || exit 1
if as_user "$lode" record -o trial -e cpu-clock:u -- true >/dev/null 2>&1; then
	as_user "$lode" run -o hidden.lode -- ../known_waits hidden truth >../out 2>../err
	status=$?
	"$lode" report hidden.lode --waits >../out 2>>../err
	"$lode" report hidden.lode --waits --format json >waits.json 2>>../err
	cd ..
	check "refused looks" "$(status_is 0)" \
		"$(holds grep -q 'The system refused to say what' out)" \
		"$(holds python3 -c 'import json
waits = json.load(open("theirs/waits.json"))
assert waits["refused"] > 0.5 and waits["seen"] < 0.5 and waits["waiting_seconds"] > 0.6' 2>&1)"
else
	echo "ok $((number + 1)) - refused looks # SKIP another user cannot record here"
fi
