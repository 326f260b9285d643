#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The count of test cases sees every way in which a test can end.
#
#   tests/house/counts.sh COUNT_TESTS
set -euo pipefail

count=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
number=0

# verdict NAME STATUS LAST_LINE: of the log as it stands.
verdict() {
	local said status=0
	number=$((number + 1))
	said=$(python3 "$count" "$log") || status=$?
	if [ "$status" = "$2" ] && [ "${said##*$'\n'}" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# status $status: ${said//$'\n'/ | }"
	fi
}

echo "1..9"
printf '%s\n' '{"name": "a", "result": "OK", "stdout": "1..3\nok 1 x\nok 2 y # SKIP no\nok 3 z\n"}' >"$log"
verdict "cases of a TAP test" 0 "2 passed, 0 failed"

printf '%s\n' '{"name": "a", "result": "FAIL", "stdout": "1..2\nok 1 x\nnot ok 2 y\n"}' >"$log"
verdict "a failed case" 1 "1 passed, 1 failed"

printf '%s\n' '{"name": "a", "result": "FAIL", "stdout": "ok 1 x\n# fine\nnot ok 2 y\n# 3, not 4\nok 3 z\n"}' >"$log"
number=$((number + 1))
if diff <(printf '%s\n' "FAILED a" "    not ok 2 y" "    # 3, not 4" "2 passed, 1 failed") <(python3 "$count" "$log"); then
	echo "ok $number - what a failed case said"
else
	echo "not ok $number - what a failed case said"
fi

printf '%s\n' '{"name": "a", "result": "ERROR", "stdout": "1..3\nok 1 x\n"}' >"$log"
verdict "a crash between cases" 1 "1 passed, 1 failed"

printf '%s\n' '{"name": "a", "result": "OK"}' '{"name": "b", "result": "TIMEOUT", "stdout": ""}' >"$log"
verdict "tests without cases" 1 "1 passed, 1 failed"

printf '%s\n' '{"name": "a", "result": "SKIP", "stdout": "1..0 # SKIP nothing\n"}' >"$log"
verdict "nothing but skipped tests is no success" 1 "0 passed, 0 failed"

printf '%s\n' '{"name": "lode:e2e+timing / a", "result": "FAIL", "stdout": "not ok 1 x\n"}' \
	'{"name": "lode:unit / b", "result": "FAIL", "stdout": "not ok 1 y\n"}' >"$log"
number=$((number + 1))
if diff <(echo a) <(python3 "$count" --failed-timing "$log"); then
	echo "ok $number - what is run again"
else
	echo "not ok $number - what is run again"
fi

again=$(mktemp)
printf '%s\n' '{"name": "lode:e2e+timing / a", "result": "OK", "stdout": "ok 1 x\n"}' >"$again"
number=$((number + 1))
if diff <(printf '%s\n' "FAILED ONCE lode:e2e+timing / a" "    not ok 1 x" "FAILED lode:unit / b" "    not ok 1 y" \
	"1 passed, 1 failed") <(python3 "$count" "$log" "$again"); then
	echo "ok $number - the second try counts"
else
	echo "not ok $number - the second try counts"
fi
rm "$again"

rm "$log"
verdict "no log is no success" 1 "0 passed, 0 failed"
