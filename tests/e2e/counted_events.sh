#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the plugin counts beside executions is what callgrind counts: of a program that does the same
# in both, each event is equal. Prints TAP; skips where there is no qemu-x86_64, or no valgrind.
#
#   tests/e2e/counted_events.sh LODE PLUGIN COUNTED-EVENTS
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

plugin=$(realpath "$2")
program=$(realpath "$3")
begin "$1"

if ! command -v qemu-x86_64 >/dev/null || ! command -v valgrind >/dev/null; then
	skip "there is no qemu-x86_64, or no valgrind"
fi

# events PROFILE: "NAME TOTAL", each on a line
events() {
	"$lode" info "$1" --format csv | awk -F, '
		$1 == "event" && $2 ~ /^(instructions|D[rw]|[ID]1m[rw]|[ID]Lm[rw]|B[ci]m?)$/ {
			print $2, $3
		}' | sort
}

# are_equal NAME: all but what callgrind does not count, the program's last block of three fetches
are_equal() {
	paste -d ' ' "$1.expected" "$1.events" | awk '
		{ more = $1 ~ /^I/ ? 1 : $1 == "instructions" ? 3 : 0 }
		$1 == $3 && $4 >= $2 && $4 <= $2 + more { n++ }
		END { exit !(n == 13 && NR == 13) }'
}

# counts FOLDER ARGUMENT…: a profile of what the plugin counts with these arguments
counts() {
	local folder=$1 argument arguments=$plugin,counts=$work/$1
	shift
	for argument in "$@"; do arguments=$arguments,$argument; done
	mkdir "$folder"
	qemu-x86_64 -plugin "$arguments" "$program" >out 2>err
	status=$?
	"$lode" import "$folder"/counts.* -o "$folder.lode" >out 2>>err
	events "$folder.lode" >"$folder.events"
}

# as_callgrind NAME I1 D1 LL: each SETS:WAYS:LINE
as_callgrind() {
	local name=$1 shape arguments=()
	shift
	counts "$name" "caches=$1+$2+$3"
	for shape in "I1=$1" "D1=$2" "LL=$3"; do
		IFS=:= read -r level sets ways line <<<"$shape"
		arguments+=("--$level=$((sets * ways * line)),$ways,$line")
	done
	valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes "${arguments[@]}" --dump-instr=yes \
		--callgrind-out-file="$name.callgrind" "$program" >out 2>>err
	"$lode" import "$name.callgrind" -o "$name.expected.lode" >out 2>>err
	events "$name.expected.lode" >"$name.expected"
	paste "$name.expected" "$name.events" >>err
	are_equal "$name"
}

check "small caches: each event is what callgrind counts" \
	"$(holds as_callgrind small 8:2:32 16:2:32 128:4:64)" "$(status_is 0)"
check "lines of 64 bytes likewise" "$(holds as_callgrind usual 64:8:64 64:8:64 256:26:64)"

counts tage caches=64:8:64+64:8:64+256:26:64 branches=tage
total() { awk -v name="$2" '$1 == name { print $2 }' "$1.events"; }
differs_in_branches() {
	[ "$(total tage D1mr)" = "$(total usual D1mr)" ] &&
		[ "$(total tage Bi)" = "$(total usual Bi)" ] &&
		[ "$(total tage Bcm)" -lt "$(total usual Bcm)" ]
}
check "another predictor mispredicts others" "$(holds differs_in_branches)"

"$lode" run --exact --simulate i1=32K:8:64,d1=32K:8:64,l2=416K:26:64 --branches tage -o given.lode \
	-- "$program" >out 2>err
status=$?
events given.lode >given.events
says_which() {
	"$lode" info given.lode | grep '^ *simulated *i1=32K:8:64,d1=32K:8:64,l2=416K:26:64, branches by tage$' >/dev/null
}
check "lode run takes both, and the profile says which they were" "$(status_is 0)" \
	"$(holds cmp given.events tage.events)" "$(holds says_which)"
"$lode" run --exact --simulate d1=32K:8:64:fifo -o fifo.lode -- "$program" >out 2>err
status=$?
check "caches that cannot be counted are refused before the program runs" "$(status_is 1)" \
	"$(holds test ! -e fifo.lode)"

# A second level and TLBs: the caches have the misses that a trace has of data, and those of code but
# for the last block. The TLB's are fewer or more by the order of pages between two misses.
levels=i1=1K:2:32,d1=1K:2:32,l2=2K:4:32,l3=8K:4:64,dtlb=4:full:256,dtlb2=16:4:256
"$lode" run --exact --simulate "$levels" -o levels.lode -- "$program" >out 2>err
status=$?
"$lode" trace record -o levels.rps -- "$program" >out 2>>err
"$lode" import levels.rps --simulate "$levels" -o levels.traced.lode >out 2>>err
misses() {
	"$lode" info "$1" --format csv | awk -F, '
		$1 == "event" && $2 ~ /^(l1d|l2|ll|dtlb|stlb)-miss$/ { print $2, $3 }' | sort
}
misses levels.lode >levels.counted
misses levels.traced.lode >levels.traced
has_levels() {
	paste -d ' ' levels.counted levels.traced | tee -a err | awk '
		{ most = $1 ~ /tlb/ ? $4 / 100 : $1 == "l1d-miss" ? 0 : 1 }
		$1 == $3 && $4 > 1000 && $2 - $4 <= most && $4 - $2 <= most { n++ }
		END { exit !(n == 5 && NR == 5) }'
}
check "further levels and TLBs have the misses that they have of a trace" "$(status_is 0)" \
	"$(holds has_levels)"
no_further_levels() { ! "$lode" info given.lode --format csv | grep -E '^event,(l2|dtlb|stlb)-miss,' >/dev/null; }
check "what is not simulated is no event" "$(holds no_further_levels)"

is_refused() { ! qemu-x86_64 -plugin "$plugin,counts=$work,$1" "$program" >out 2>err; }
check "wrong caches and predictors are refused" "$(holds is_refused caches=63:8:64+64:8:64+64:8:64)" \
	"$(holds is_refused caches=64:8:64)" \
	"$(holds is_refused caches=64:8:64+64:8:64+64:8:64+64:8:64)" \
	"$(holds is_refused caches=64:8:64+64:8:64+64:8:64,branches=oracle)"
echo "1..$number"
