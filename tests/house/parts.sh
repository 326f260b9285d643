#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# No test is lost where tests are run in parts: all parts together have each test, and scripts/test.sh
# runs them without parts.
#
#   tests/house/parts.sh SCRIPTS BUILD_DIRECTORY
set -euo pipefail

scripts=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# verdict NAME COMMAND…
verdict() {
	local name=$1 said
	shift
	number=$((number + 1))
	if said=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
}

all_names() {
	python3 -c 'import json, sys
print(*sorted({test["name"] for test in json.load(open(sys.argv[1]))}), sep="\n")' \
		"$build/meson-info/intro-tests.json"
}

# part K/N: as .ci/run has it.
part() { python3 "$scripts/part_of_tests.py" "$build" "$1" unit e2e truth insight plain; }

parts_have_all() {
	all_names >"$work/all"
	for k in 1 2 3 4 5; do part $k/5; done | sort -u >"$work/union"
	LC_ALL=C diff <(LC_ALL=C sort "$work/all") <(LC_ALL=C sort "$work/union")
}

parts_differ() {
	part 1/5 >"$work/first"
	part 2/5 >"$work/second"
	! cmp -s "$work/first" "$work/second" && [ "$(wc -l <"$work/first")" -lt "$(wc -l <"$work/all")" ]
}

suites_left_out() {
	! python3 "$scripts/part_of_tests.py" "$build" 1/1 --no-suite house | grep -Fx layers
}

# The tree's own, with scripts in place of those that it calls, which say what they are told to do.
whole_run() {
	mkdir -p "$work/scripts"
	cp "$scripts/test.sh" "$work/scripts"
	for name in setup build run_tests; do
		# shellcheck disable=SC2016 # of the script that is written
		printf '#!/bin/sh\necho "%s $*"\n' $name >"$work/scripts/$name.sh"
		chmod +x "$work/scripts/$name.sh"
	done
	diff <(printf '%s\n' "setup --test" "build build" "run_tests build") <("$work/scripts/test.sh")
}

echo "1..4"
verdict "five parts have all tests" parts_have_all
verdict "one has fewer, and another than the next" parts_differ
verdict "a suite can be left out" suites_left_out
verdict "scripts/test.sh runs all" whole_run
