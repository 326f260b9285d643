#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each verb has a man page that mandoc finds no fault with, a golden case of its --help, and a line
# in 'lode --help' and in lode(1). scripts/man_options.py checks the options of the page. Prints TAP.
#
#   scripts/check_verbs.sh LODE
set -euo pipefail

lode=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

# faults VERB: what is missing, one a line; nothing when all is there.
faults() {
	local verb=${1//_/ } page=man/lode-${1//_/-}.1
	local -a words
	read -ra words <<<"$verb"
	if ! "$lode" "${words[@]}" --help </dev/null >/dev/null 2>&1; then
		echo "'lode $verb --help' fails"
		return
	fi
	[ -e "tests/golden/$1/help.cmd" ] || echo "there is no tests/golden/$1/help.cmd"
	"$lode" --help | grep -qE "^ +$verb " || echo "'lode --help' does not name it"
	grep -qx "\.It Ic $verb" man/lode.1 || echo "man/lode.1 does not name it"
	if [ ! -e "$page" ]; then
		echo "there is no $page"
		return
	fi
	! command -v mandoc >/dev/null || mandoc -T lint -W warning "$page" || true
}

table=src/cli/verb_table.c
# A verb of two words is lode_verb_memory_record.
mapfile -t verbs < <(sed -nE 's/^\t&lode_(verb|question)_([a-z_]+),$/\2/p' $table)
if [ ${#verbs[@]} -eq 0 ]; then
	echo "Bail out! no verbs in $table"
	exit 1
fi

echo "1..${#verbs[@]}"
number=0
for verb in "${verbs[@]}"; do
	number=$((number + 1))
	found=$(faults "$verb" 2>&1)
	if [ -z "$found" ]; then
		echo "ok $number - $verb"
	else
		echo "not ok $number - $verb"
		while IFS= read -r line; do echo "# $line"; done <<<"$found"
	fi
done
