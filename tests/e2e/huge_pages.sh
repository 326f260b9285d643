#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# More pages in use than there are translations: a program that reads 64 MiB at random has the fact
# spread:tlb in pages of 4 KiB, and has not in huge ones, with all page faults recorded and with one
# of some. Prints TAP.
#
#   huge_pages.sh LODE SOURCE
set -euo pipefail
source=$(realpath "$2")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
begin "$1"
needs_sampling
needs gcc python3 sqlite3

# spread PROFILE: the share of the look-ups' time in instructions with the fact, in percent; filling the
# memory takes as long as the kernel needs for its pages
spread() { "$lode" info "$1" --format json | python3 -c '
import json, sys
facts = {row["name"]: row["share"] for row in json.load(sys.stdin)["facts"]}
print(round(100 * facts.get("spread:tlb", 0) / float(sys.argv[1])))' \
	"$(sqlite3 "$1" "SELECT max(sum(share), 0.01) FROM hot_function WHERE name = 'gather'")"; }

gcc -O2 -g -o program "$source"
for size in small huge; do
	for way in run "memory record"; do
		# shellcheck disable=SC2086
		"$lode" $way -F 5000 -o x.lode -- ./program 1 $size >out 2>err
		of_huge=$(sed -n 1p out)
		if [ $size = huge ] && [ "$of_huge" -lt 61440 ]; then
			number=$((number + 1))
			echo "ok $number - lode $way, huge pages # SKIP the kernel gives $of_huge KiB of them"
			continue
		fi
		share=$(spread x.lode)
		check "lode $way, $size pages" "$(holds test "$([ $size = huge ] && echo "$share" || echo $((100 - share)))" -le 20)"
	done
done
echo "1..$number"
