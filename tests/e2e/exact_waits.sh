#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Waits of which the kernel tells each, of a program that knows them. Prints TAP; skips where the
# kernel lets this user not sample its own code, and where there is no compiler or no python3.
#
#   tests/e2e/exact_waits.sh LODE SOURCES      SOURCES: the folder of known_waits.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
export HOME=$work

needs gcc python3
needs_sampling
gcc -g -O2 -pthread "$sources/known_waits.c" -o known_waits 2>err || skip "gcc makes no program"
"$lode" run --each-wait -o rests.lode -- ./known_waits rests truth >out 2>err
status=$?
"$lode" info rests.lode >about 2>>err
grep -q 'each wait by the kernel' about || skip "the kernel tells this user of no switches"

echo 1..5

"$lode" report rests.lode --waits --format json >waits.json 2>>err
"$lode" report rests.lode --waits >list 2>>err
check "each of many short waits" "$(status_is 0)" \
	"$(holds grep -q "The kernel told each wait's call and place for" list)" \
	"$(holds python3 -c 'import json
waits = json.load(open("waits.json"))
assert waits["exact"] > 0.9 and waits["seen"] > 0.95, (waits["exact"], waits["seen"])
for function, count in (("rest", 600), ("breathe", 200)):
    rows = [one for one in waits["waits"] if one["function"] == function and one["reason"] == "sleep"]
    said = sum(one["count"] for one in rows)
    assert abs(said - count) <= 0.1 * count, (function, said)' 2>&1)"

# Who ended a wait is told where tracefs can be read; a mount of its own is enough. A busy machine
# loses records, so that part is not known.
with_tracing() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh "$@"
}

if with_tracing true 2>/dev/null; then
	for kind in condition semaphore; do
		rm -f truth
		with_tracing "$lode" run --each-wait -o woken.lode -- ./known_waits "$kind" truth >out 2>err
		status=$?
		{
			"$lode" info woken.lode >about
			"$lode" report woken.lode --waits --format json >waits.json
			"$lode" report woken.lode --format json >report.json
		} 2>>err
		check "who ended it: $kind" "$(status_is 0)" \
			"$(holds grep -q 'each wait by the kernel, with who ended it' about)" \
			"$(python3 "$sources/known_waits.py" "$kind" truth waits.json report.json 2>&1)" \
			"$(grep -q 'lost' about || holds python3 -c 'import json
waits = json.load(open("waits.json"))
assert waits["has_path"] and waits["path_sure"] > 0.9, waits["path_sure"]' 2>&1)"
	done
else
	for kind in condition semaphore; do
		number=$((number + 1))
		echo "ok $number - who ended it: $kind # SKIP tracefs cannot be mounted"
	done
fi

"$lode" record --no-waits -o none.data -- ./known_waits rests truth >out 2>err
status=$?
check "without waits" "$(status_is 0)" "$(grep -aq switched none.data && echo 'switches are sampled')"

# An ordinary user has looks.
mkdir -m 777 theirs
cd theirs || exit 1
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] &&
	as_nobody "$lode" record -o trial -e cpu-clock:u -- true >/dev/null 2>&1; then
	as_nobody "$lode" run --each-wait -o looks.lode -- ../known_waits sleep truth >../out 2>../err
	status=$?
	"$lode" info looks.lode >../about 2>>../err
	cd ..
	check "an ordinary user" "$(status_is 0)" "$(holds grep -q 'by looks at threads' about)"
else
	echo "ok $((number + 1)) - an ordinary user # SKIP all users are told, or nobody can record"
fi
