#!/bin/bash
# SPDX-License-Identifier: MIT
# What 'lode run' says of real programs, and whether it says the same of a second recording.
#   bench/twice.sh DIRECTORY [PROGRAM…]        default: all of real_programs.sh
# Records each twice, where DIRECTORY has no recordings of it, and prints the first three diagnoses of
# both, "same" where they are the same by their names (cause, scope) in any order; at the end how many
# are. LODE names the lode to use (default: build/src/cli/lode), SCALE how long programs run (default: 1,
# about as many seconds).
set -euo pipefail
cd "$(dirname "$0")/.."
lode=$(realpath "${LODE:-build/src/cli/lode}")
scale=${SCALE:-1}
[ $# -gt 0 ] || { sed -n '3,8s/^# *//p' "$0" >&2 && exit 2; }
mkdir -p "$1"
directory=$(realpath "$1")
shift
wanted=("$@")
# shellcheck source=bench/real_programs.sh
. bench/real_programs.sh

all=0
same=0

# Cause, scope, savings of the first three, one a line.
first_three() {
	"$lode" report --format json "$1" | python3 -c '
import json, sys
for one in json.load(sys.stdin)["diagnoses"][:3]:
    low, high = one["saves"]["low"] or 0, one["saves"]["high"]
    print(one["name"], "%.1f" % (100 * one["time"]), "%.0f-%.0f" % (100 * low, 100 * high), sep="\t")'
}

# measure NAME PROGRAM [ARGUMENT…]
measure() {
	local name=$1 i
	shift
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: no $1" >&2 && return 0; }
	for i in 1 2; do
		[ -e "$directory/$name.$i.lode" ] ||
			"$lode" run -o "$directory/$name.$i.lode" --report /dev/null -- "$@" >/dev/null 2>"$directory/$name.log" ||
			{ echo "$name: $(tail -n 1 "$directory/$name.log")" >&2 && return 0; }
		first_three "$directory/$name.$i.lode" >"$directory/$name.$i.tsv"
	done
	local verdict=differs
	all=$((all + 1))
	if cmp -s <(cut -f 1 "$directory/$name.1.tsv" | sort) <(cut -f 1 "$directory/$name.2.tsv" | sort); then
		verdict=same
		same=$((same + 1))
	fi
	printf '%-10s %s\n' "$name" "$verdict"
	paste "$directory/$name.1.tsv" "$directory/$name.2.tsv" |
		awk -F '\t' '{ printf "   %-44.44s %5s %7s   %-44.44s %5s %7s\n", $1, $2, $3, $4, $5, $6 }'
}

measure_ten_programs
measure_more_programs
echo "$same of $all have the same three"
