#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `lode annotate` leads from the first finding to the line that waits: the only division of a
# program. Prints TAP.
#
#   tests/insight/one_division.sh LODE SOURCE
set -euo pipefail
export LC_ALL=C.UTF-8 NO_COLOR=1

lode=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if ! refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
echo 1..7
gcc -O1 -g -o program "$source"
"$lode" run -F 1000 -o x.lode -- ./program >log 2>&1 || echo "# $(tail -n 3 log)"
divides=$(grep -n '/\* divides \*/' "$source" | cut -d: -f1)

# check NUMBER TEXT COMMAND…
check() {
	local what="$1 - $2"
	shift 2
	if "$@" >/dev/null; then echo "ok $what"; else
		echo "not ok $what"
		sed 's/^/# /' shown
	fi
}

"$lode" annotate x.lode F1 >shown
check 1 "the finding names the division" grep -E '^Finding F1 .*div' shown
check 2 "its first place is the line of the division" grep -E "^1\. divide .*:$divides\$" shown
check 3 "the charged instruction has the mark" grep -E '^▶' shown
"$lode" annotate x.lode F1 --format csv >shown
check 4 "so has it in CSV, and the finding is named" grep -E "^1,divide,.*,F1[^,]*,.*$source,$divides," shown
"$lode" annotate x.lode function divide >shown
check 5 "the function has the finding in the margin" grep -E '^F1 ' shown
check 6 "and all of its code" grep -E '  ret$' shown
"$lode" annotate x.lode line "$(basename "$source"):$divides" >shown
check 7 "the division is among the code of its line" grep -E '^▶.*  div ' shown
