#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Parts of a profile of a program with two named threads, which run different functions one after the
# other: what each has of the samples is compared with its own clock. Prints TAP; skips where the
# kernel lets nobody sample, or there is no compiler.
#
#   tests/e2e/parts.sh LODE PROGRAMS      PROGRAMS: the folder of known_parts.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
gcc -g -O2 "$programs/known_parts.c" -o known -pthread 2>err || skip "there is no gcc"

# ask VERB OPTION…
ask() {
	"$lode" "$@" >out 2>err
	status=$?
}

# The field of a thread in CSV by threads: thread NAME FIELD
thread() {
	"$lode" report x.lode --programs --by thread --format csv 2>>err | tr -d '\r' |
		awk -F, -v name="$1" -v field="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$at["name"] == name { print $at[field] }'
}

# The share of a function in a part, in percent: share_of FUNCTION OPTION…
share_of() {
	local name=$1
	shift
	"$lode" export x.lode --format folded "$@" 2>>err |
		awk -v name="$name" '{ all += $NF } index($0, ";" name " ") { found += $NF }
			END { if (all > 0) print int(100 * found / all + 0.5); else print "no" }'
}

is_near() { # WHAT FOUND EXPECTED, in percent
	awk -v what="$1" -v found="$2" -v expected="$3" 'BEGIN {
		if (found == "" || found - expected > 5 || expected - found > 5)
			print what ": " found " %, not " expected " %" }'
}

echo 1..8

"$lode" run -F 2000 -o x.lode -- ./known >clocks 2>err
status=$?
expected=$(awk '$1 == "cruncher" || $1 == "divider" { of[$1] = $2; all += $2 }
	END { print 100 * of["cruncher"] / all }' clocks)
check "threads have of the samples what they have of the time" "$(status_is 0)" \
	"$(is_near cruncher "$(awk -v share="$(thread cruncher share)" 'BEGIN { print 100 * share }')" "$expected")"

check "a thread runs its own function alone" \
	"$(is_near crunch "$(share_of crunch --thread cruncher)" 100)" \
	"$(is_near divide "$(share_of divide --thread 'div*')" 100)" \
	"$(is_near crunch "$(share_of crunch --thread "$(thread divider tid)")" 0)"

# From the first thread's last sample on there is only the second's.
boundary=$(thread cruncher to)
check "so does its stretch of time" \
	"$(is_near divide "$(share_of divide --time "$boundary..")" 100)" \
	"$(is_near crunch "$(share_of crunch --time "..$boundary")" 100)" \
	"$(is_near divide "$(share_of divide --where "thread != 'cruncher' && time > 0")" 100)"

ask report x.lode --thread cruncher
check "a report says which part it is" "$(status_is 0)" \
	"$(holds grep -Eq '^part: thread cruncher: [0-9.]+ % of the weight$' out)" \
	"$(holds grep -Eq '^ *[0-9.]+ % .* crunch(,|$)' out)" \
	"$(holds grep -q 'is estimated' err)"

ask annotate x.lode function divide --thread divider --format json
check "so does code" "$(status_is 0)" "$(holds grep -q '"part":"thread divider: ' out)"

ask report x.lode --thread nobody
check "a part without samples is an error" "$(status_is 1)" \
	"$(holds grep -q 'threads such as: .*cruncher' err)"

ask diff x.lode x.lode --thread cruncher
check "a comparison of parts says once what is estimated" "$(status_is 0)" \
	"$(holds test "$(grep -c 'is estimated' err)" = 1)" \
	"$(holds test "$(grep -c 'estimated counts' out)" = 2)"

cat >two.sh <<'END'
./known >&2
exec sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'
END
"$lode" run -F 2000 -o y.lode -- sh two.sh >out 2>err
status=$?
check "the head of a run names its programs" "$(status_is 0)" \
	"$(holds grep -Eq '^programs: (known [0-9.]+ s on processors, sh|sh [0-9.]+ s on processors, known) [0-9.]+ s' err)"
