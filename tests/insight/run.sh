#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles a program with a planted cost, records it with `lode run --exact`, and looks for what was
# planted among the first three lines of the first screen. No function of it may have over 1 % of
# the cost: a list of hot functions would show nothing.
#   run.sh LODE PROGRAM.c PATTERN      PATTERN: extended regular expression
# Exit status: 0 found, 1 not found or wrong, 77 skipped.
set -u
lode=$1
source=$2
pattern=$3
# The patterns hold brackets and arrows outside ASCII.
export LC_ALL=C.UTF-8 NO_COLOR=1

compiler=${INSIGHT_CC:-gcc}
for tool in valgrind "$compiler"; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool" && exit 77; }
done
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

fail() {
	echo "FAILED: $*"
	[ -f "$directory/report" ] && head -n 20 "$directory/report"
	[ -f "$directory/log" ] && tail -n 20 "$directory/log"
	exit 1
}

"$compiler" -O1 -g -fno-pie -no-pie -o "$directory/program" "$source" || fail "does not compile"
"$lode" run --exact -o "$directory/x.lode" -- "$directory/program" >"$directory/log" 2>&1 ||
	fail "lode run gives status $?"
"$lode" report "$directory/x.lode" >"$directory/report" || fail "lode report gives status $?"

hottest=$(sed -nE 's/.*hottest function ([0-9.]+) %.*/\1/p' "$directory/report" | head -n 1)
[ -n "$hottest" ] || fail "the report does not name the hottest function"
awk -v share="$hottest" 'BEGIN { exit !(share <= 1) }' ||
	fail "a function has $hottest % of the cost: nothing is scattered"

# The lines of the tree's trunk, below the line of headings.
sed '1,/^ *weight .*sequence$/d; /^$/,$d' "$directory/report" | grep -v '└─' | head -n 3 \
	>"$directory/trunk"
[ "$(wc -l <"$directory/trunk")" -gt 0 ] || fail "the report shows no line"
grep -Eq -- "$pattern" "$directory/trunk" || fail "not among the first three lines: $pattern"
grep -E -m 1 -- "$pattern" "$directory/trunk"
