#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory --callers` says of a program whose calls are known: by frame pointers, by dumps
# of the stack, and without either. Prints TAP; skips where the kernel lets nobody sample, or there is
# no compiler.
#
#   tests/e2e/callers.sh LODE PROGRAMS      PROGRAMS: the folder of known_callers.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
if ! gcc -g -O2 -fno-omit-frame-pointer "$programs/known_callers.c" -o frames 2>err ||
	! gcc -g -O2 -fomit-frame-pointer "$programs/known_callers.c" -o plain 2>err; then
	skip "there is no gcc"
fi

# record PROGRAM OPTION…
record() {
	local program=$1
	shift
	"$lode" memory record -F 2000 --no-page-faults -o x.lode "$@" -- "./$program" >out 2>err
	status=$?
}

# Paths from look_up() outward to main(), and their samples in percent of look_up()'s.
paths() {
	"$lode" memory x.lode --callers 8 --where 'function == "look_up"' --format csv 2>>err |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ level = $at["level"]; path[level] = $at["function"]; samples = $at["samples"] }
			$at["kind"] == "object" { all += samples; next }
			path[level] == "main" {
				text = ""
				for (i = 1; i <= level; i++) text = text " " path[i]
				found[text] += samples
			}
			END { for (text in found) if (all) print int(100 * found[text] / all) text }'
}

# The two ways, and no other to speak of.
tells_both() {
	paths >found
	awk '$2 " " $3 " " $4 " " $5 == "look_up twice often main" { often = $1 }
		$2 " " $3 " " $4 " " $5 " " $6 == "look_up seldom deep deep main" { seldom = $1 }
		END {
			if (often + seldom < 95) print "only " often + seldom " % are on the two ways"
			if (often < 67 || often > 83) print often " % by often(), not 75"
		}' found
	[ -s found ] || echo "no path was found"
}

echo 1..4

record frames -g
check "by frame pointers" "$(status_is 0)" "$(tells_both)" \
	"$("$lode" memory x.lode --callers 2 2>>err | grep -E '^ *[0-9.]+ % +[0-9,]+ +often known_callers.c:[0-9]+$' >/dev/null || echo "not in text")" \
	"$("$lode" memory x.lode --callers 2 --format json 2>>err | grep '"function":"often"' >/dev/null || echo "not in JSON")"

record plain --call-graph dwarf,2048
check "by dumps of the stack" "$(status_is 0)" "$(tells_both)"

record plain --call-graph fp
paths >found
check "without frame pointers, what the dump of the registers' recording reaches is right" \
	"$(status_is 0)" \
	"$(awk '$2 " " $3 " " $4 " " $5 == "look_up twice often main" { often = $1 }
		$2 " " $3 " " $4 " " $5 == "look_up seldom main" || /often.*deep|deep.*often/ { wrong += $1 }
		END {
			if (often < 60) print "only " often + 0 " % by often()"
			if (wrong > 0) print wrong " % on ways that do not exist"
		}' found)"

record plain
"$lode" memory x.lode --callers 2 >out 2>said
check "without call chains it says how to get them" "$(status_is 0)" \
	"$(grep "lode memory record -g" said >/dev/null || cat said)" \
	"$([ -s out ] && echo "something is shown")"
