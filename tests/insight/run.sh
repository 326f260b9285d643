#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles a program with a planted cost, records it with `lode run`, and looks for what was planted
# among the first two patterns of the first screen. No function of it may have over 1 % of the cost:
# a list of hot functions would show nothing.
#   run.sh LODE PROGRAM.c PATTERN      counted executions and estimated time are enough
#   run.sh LODE PROGRAM.c PATTERN time only sampled time shows it: the estimate must not
#   run.sh LODE PROGRAM.c PATTERN time TEXT      and --explain has this below it
# PATTERN and TEXT are extended regular expressions.
# Exit status: 0 found, 1 not found or wrong, 77 skipped.
set -u
lode=$1
source=$2
pattern=$3
shown_by=${4:-estimate}
text=${5:-}
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
case $shown_by in
estimate) record=(--exact) ;;
time) record=(--count --frequency 20000 --fast) ;;
esac
"$lode" run "${record[@]}" -o "$directory/x.lode" -- "$directory/program" >"$directory/log" 2>&1 ||
	fail "lode run gives status $?"
if [ "$shown_by" = time ] && grep -q 'without samples' "$directory/log"; then
	echo "skipped: sampling is not allowed here"
	exit 77
fi
"$lode" report "$directory/x.lode" --findings >"$directory/report" || fail "lode report gives status $?"

hottest=$("$lode" report "$directory/x.lode" --functions --limit 1 --format csv |
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print 100 * $at["share"] }')
[ -n "$hottest" ] || fail "the report does not name the hottest function"
# Sampled shares of two hundred functions scatter.
limit=1
[ "$shown_by" = time ] && limit=1.5
awk -v share="$hottest" -v limit=$limit 'BEGIN { exit !(share <= limit) }' ||
	fail "a function has $hottest % of the cost: nothing is scattered"

# The patterns of the first screen, two lines each: the finding, and its places.
patterns() {
	sed -n '/  id  pattern$/,/^$/p' "$1" | sed 1d | grep -E 'F[0-9]+  ' | head -n 2
}

patterns "$directory/report" >"$directory/patterns"
[ -s "$directory/patterns" ] || fail "the report shows no pattern"
grep -Eq -- "$pattern" "$directory/patterns" || fail "not among the first two patterns: $pattern"
grep -E -m 1 -- "$pattern" "$directory/patterns"
if [ -n "$text" ]; then
	"$lode" report "$directory/x.lode" --findings --explain >"$directory/explained" ||
		fail "lode report --explain gives status $?"
	# The finding, its places, and what explains it.
	grep -E -m 1 -A 4 -- "$pattern" "$directory/explained" | grep -Eq -- "$text" ||
		fail "not explained by: $text"
fi

if [ "$shown_by" = time ]; then
	"$lode" mine --weight cycles --name estimated "$directory/x.lode" >/dev/null 2>&1 ||
		fail "the estimate cannot be mined"
	"$lode" report "$directory/x.lode" estimated --findings >"$directory/estimated" ||
		fail "the estimate cannot be reported"
	patterns "$directory/estimated" | grep -Eq -- "$pattern" &&
		fail "the estimate shows it as well: nothing was gained by sampling"
fi
exit 0
