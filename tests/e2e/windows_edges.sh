#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Windows of a program whose branches are known: each is seen as often as it is taken, the program
# does what it does without, and what steps it is in no profile. Prints TAP; skips where windows
# cannot be recorded.
#
#   tests/e2e/windows_edges.sh LODE KNOWN_SHARES
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

program=$(realpath "$2")
begin "$1"
needs sqlite3 awk
needs_sampling

ask() { sqlite3 -separator ' ' x.lode "$1"; }

"$lode" record --windows 10% -o x.data -- "$program" >out 2>err
status=$?
! grep -q 'windows are not recorded' err || skip "$(grep 'windows are not recorded' err)"
check "the program is recorded" "$(status_is 0)" "$(holds grep -qx "done" out)"
"$lode" import x.data -o x.lode >out 2>err
status=$?
windows=$(ask 'SELECT windows FROM window_recording')
[ "${windows:-0}" -gt 0 ] || skip "no window was recorded"
check "its windows are imported" "$(status_is 0)" \
	"$(holds test "$(ask 'SELECT count(*) FROM unresolved WHERE reason LIKE "%window%"')" -eq 0)"

# is_near COUNT OF SHARE KIND WINDOWS: a period is cut in each window; six standard errors
is_near() {
	awk -v n="$1" -v of="$2" -v p="$3" -v kind="$4" -v windows="$5" 'BEGIN {
		error = n - p * of
		bound = kind == "period" ? windows : 6 * sqrt(p * (1 - p) * of)
		exit !(error * error <= bound * bound) }'
}

while read -r function branch target share kind; do
	read -r taken all windows < <(ask "
		SELECT total(CASE WHEN t.address = f.address + $target THEN steps END), total(steps),
			max(windows)
		FROM window_edge e JOIN instruction s ON s.id = e.source
			JOIN instruction t ON t.id = e.target JOIN function f ON f.id = s.function
		WHERE f.name = '$function' AND s.address = f.address + $branch")
	if [ -z "$windows" ] || [ "$all" = 0.0 ]; then
		echo "ok $((number += 1)) - $function # SKIP in no window"
		continue
	fi
	check "$function takes a way as often as it does" \
		"$(holds is_near "$taken" "$all" "$share" "$kind" "$windows")"
done < <("$program" shares)

check "the library is not in the profile" \
	"$(holds test "$(ask 'SELECT count(*) FROM image WHERE path LIKE "%liblode-%"')" -eq 0)"

# A path and its steps: each execution but the last of a window leads on.
check "as many steps lead away from an instruction as lead to it" "$(holds test "$(ask '
	WITH ways AS (SELECT source AS at, steps AS away, 0 AS here FROM window_edge
		UNION ALL SELECT target, 0, steps FROM window_edge)
	SELECT count(*) FROM (SELECT abs(sum(away) - sum(here)) AS lost FROM ways GROUP BY at)
	WHERE lost > (SELECT 2 * windows FROM window_recording)')" -eq 0)"

echo "1..$number"
