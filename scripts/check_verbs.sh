#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each verb has a man page that mandoc finds no fault with, a golden case of its --help, a line in
# 'lode --help' and in lode(1), and the same options in --help and in the page. Prints TAP.
#
#   scripts/check_verbs.sh LODE
set -euo pipefail

lode=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

# The page as plain text, without the overstriking of bold and underlined letters.
page_text() {
	if command -v mandoc >/dev/null; then
		mandoc -T utf8 -O width=500 "$1" | sed 's/.\x08//g'
	else
		man --encoding=UTF-8 "./$1" | sed 's/.\x08//g'
	fi
}

# The long options that stand at the start of a line (perhaps behind a short one), each once.
options_in() {
	grep -oE '^ *(-[A-Za-z0-9?](, ?| ))?--[a-z][a-z0-9-]*' | grep -oE -e '--[a-z][a-z0-9-]*' |
		LC_ALL=C sort -u
}

# The options that the page has a paragraph on.
page_options() {
	page_text "$1" | sed -n '/^OPTIONS/,/^[A-Z]/{ /^ /p }' | options_in || true
}

# faults VERB: what is missing, one a line; nothing when all is there.
faults() {
	local verb=${1//_/ } page=man/lode-${1//_/-}.1 help
	local -a words
	read -ra words <<<"$verb"
	if ! help=$("$lode" "${words[@]}" --help </dev/null 2>&1); then
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
	diff <(options_in <<<"$help" | grep -vxe --help) <(page_options "$page" | grep -vxe --help) |
		sed -n "s|^< \(.*\)|\1 is in --help and not in $page|p
			s|^> \(.*\)|\1 is in $page and not in --help|p" || true
}

table=src/cli/verb_table.c
# A verb of two words is lode_verb_memory_record.
mapfile -t verbs < <(sed -nE 's/^\t&lode_verb_([a-z_]+),$/\1/p' $table)
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
