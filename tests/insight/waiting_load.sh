#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Timer samples are charged to the load that waits, not to the one that comes next. Prints TAP.
#
#   tests/insight/waiting_load.sh LODE SOURCE
set -euo pipefail

lode=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if ! refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
echo 1..2
gcc -O2 -g -o program "$source"
"$lode" memory record -F 1000 --no-page-faults -o x.lode -- ./program >/dev/null 2>err ||
	echo "# $(cat err)"

# Shares in percent of the samples whose access is in a line that matches.
share() {
	sqlite3 x.lode "SELECT cast(100 * total(iif(l.line IN ($1), s.weight, 0)) / total(s.weight) AS INT)
		FROM memory_sample s JOIN function f ON f.id = s.access_function
		JOIN location l ON l.id = s.access_location WHERE f.name = 'main' AND l.line > $2"
}
line_of() { grep -n "$1" "$source" | head -n 1 | cut -d: -f1; }
check() {
	if [ "$2" = yes ]; then echo "ok $1"; else echo "not ok $1"; fi
}

loop=$(line_of 'i < ROUNDS')
waits=$(share "$(line_of '/\* waits \*/')" "$loop")
other=$(share "$(line_of 'sum += small')" "$loop")
echo "# the load that waits has $waits %, the other $other %"
check "1 - the load that waits has the time" "$([ "$waits" -ge 80 ] && echo yes)"
check "2 - the other has little" "$([ "$other" -le 20 ] && echo yes)"
