#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode report --functions`, `--callers` and `--callees` say of a program whose calls are known:
# by frame pointers, by dumps of the stack, by counted calls, and without any. Prints TAP; skips where
# the kernel lets nobody sample, or there is no compiler.
#
#   tests/e2e/calls.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
begin "$1"

needs_sampling
if ! gcc -g -O2 -fno-omit-frame-pointer "$here/call_tree.c" -o frames 2>err ||
	! gcc -g -O2 -fomit-frame-pointer "$here/call_tree.c" -o plain 2>err; then
	skip "there is no gcc"
fi

# run PROGRAM OPTION…: x.lode, and the report in `screen`.
run() {
	shift
	"$lode" run -o x.lode --report screen "$@" >out 2>err
	status=$?
}

# is_about NAME VALUE PERCENT ERROR
is_about() {
	awk -v name="$1" -v value="${2:-none}" -v wanted="$3" -v error="$4" 'BEGIN {
		if (value == "none" || value < wanted - error || value > wanted + error)
			print name ": " value " %, not " wanted
	}'
}

# share COLUMN NAME OPTION…: of the function's row of a report, in percent of what work() has.
share() {
	local column=$1 name=$2
	shift 2
	"$lode" report x.lode "$@" --format csv 2>>err | tr -d '\r' |
		awk -F, -v column="$column" -v name="$name" \
			'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["name"] == name { sum += $at[column] }
			END { if (sum != "") print sum }'
}

# tells_tree ERROR DIRECT: DIRECT calls work() for the last tenth.
tells_tree() {
	local all
	all=$(share weight work --functions)
	for pair in main:100 often:60 seldom:30; do
		is_about "inclusive of ${pair%:*}" \
			"$(share inclusive "${pair%:*}" --functions | awk -v all="$all" '{ print 100 * $1 / all }')" \
			"${pair#*:}" "$1"
	done
	all=$(share share work --functions)
	for pair in often:60 seldom:30 "$2":10; do
		is_about "caller ${pair%:*}" \
			"$(share weight "${pair%:*}" --callers work | awk -v all="$all" '{ print 100 * $1 / all }')" \
			"${pair#*:}" "$1"
	done
	is_about "callee often" \
		"$(share weight often --callees main | awk -v all="$all" '{ print 100 * $1 / all }')" 60 "$1"
}

echo 1..6

run frames -F 10000 -g -- ./frames
check "by frame pointers" "$(status_is 0)" "$(tells_tree 8 inlined)" \
	"$(is_about "caller of inlined" "$(share samples main --callers inlined | awk '{ print ($1 > 20) }')" 1 0)" \
	"$(grep -E '^ *[0-9.]+ % +[0-9.]+ %  work, from often$' screen >/dev/null || cat screen)"

run plain -F 10000 --call-graph dwarf -- ./plain
check "by dumps of the stack" "$(status_is 0)" "$(tells_tree 8 inlined)"

run plain -F 10000 -g -- ./plain
check "without frame pointers it says that dwarf would do better" "$(status_is 0)" \
	"$(grep "one function only.*--call-graph dwarf would do better" screen >/dev/null || cat screen)" \
	"$("$lode" report x.lode --functions | grep "dwarf would do better" >/dev/null || echo "not in --functions")"

run plain -F 10000 --no-registers -- ./plain
"$lode" report x.lode --callers work >out 2>said
refused=$?
check "without call chains it says how to get them" "$(status_is 0)" \
	"$([ $refused -eq 1 ] || echo "status $refused")" \
	"$(grep "record with -g or --call-graph dwarf" said >/dev/null || cat said)" \
	"$("$lode" report x.lode --functions | grep "record with -g or --call-graph dwarf" >/dev/null || echo "not in --functions")" \
	"$(holds test -z "$(share inclusive work --functions | tr -d 0)")"

run plain --exact --fast -- ./plain 200
if [ $status -ne 0 ] && grep "qemu" err >/dev/null; then
	echo "ok 5 - # SKIP there is no qemu"
	echo "ok 6 - # SKIP there is no qemu"
	exit 0
fi
# By the number of calls it is exact but for what the functions do themselves.
check "by counted calls" "$(status_is 0)" "$(tells_tree 1 main)"
check "a stub is looked through" \
	"$(holds test "$(share calls main --callers strtol)" = 1)" \
	"$(holds test "$(share calls strtol --callees main)" = 1)" \
	"$(holds test -z "$(share calls strtol@plt --callees main)")"
