#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Sampled weight is at the instruction that waits, from samples alone. Prints TAP.
#
#   tests/insight/waits.sh LODE SOURCE
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
echo 1..14
gcc -O2 -g -o program "$source"
{ "$lode" record -F 5000 -e cpu-clock:u -o x.data -- ./program && "$lode" import -o x.lode x.data &&
	"$lode" mine x.lode; } >log 2>&1 || sed 's/^/# /' log

# Percent of an event in some functions that is on instructions of which a condition holds.
share() {
	sqlite3 x.lode "SELECT cast(100 * total(iif($3, c.value, 0)) / total(c.value) AS INT)
		FROM cost c JOIN event e ON e.id = c.event JOIN instruction i ON i.id = c.instruction
		JOIN function f ON f.id = i.function WHERE e.name = '$1' AND f.name IN ($2)"
}
has() {
	echo "EXISTS (SELECT 1 FROM attribute_set_member m JOIN attribute a ON a.id = m.attribute
		WHERE m.attribute_set = i.attribute_set AND a.name = '$1')"
}
check() {
	if [ "$2" = yes ]; then echo "ok $1"; else echo "not ok $1"; fi
}
is_at_least() {
	echo "# $1 %" >&2
	[ "$1" -ge "$2" ] && echo yes
}
is_at_most() {
	echo "# $1 %" >&2
	[ "$1" -le "$2" ] && echo yes
}

cause=cpu-clock:cause
# The cheap instructions around each take up to a fifth of the time; where branches are mispredicted,
# the loads before them are waited for as well.
check "1 - the division has its time" "$(is_at_least "$(share $cause "'divides'" "$(has op:div)")" 60)"
check "2 - as sampled it has none" "$(is_at_most "$(share cpu-clock "'divides'" "$(has op:div)")" 20)"
check "3 - the load that misses has its time" \
	"$(is_at_least "$(share $cause "'walks'" "$(has kind:load)")" 80)"
check "4 - the atomic addition has its time" \
	"$(is_at_least "$(share $cause "'adds'" "$(has kind:atomic)")" 70)"
operations="'twice', 'more', 'other', 'less'"
is_call="$(has kind:call) OR (i.address = f.address AND f.name IN ($operations))"
check "5 - the call through a pointer, or where it leads, has its time" \
	"$(is_at_least "$(share $cause "'calls', $operations" "$is_call")" 40)"
check "6 - a compare that retires with the jump after it has its time" \
	"$(is_at_least "$(share $cause "'searches'" "$(has op:cmp)")" 80)"
check "7 - a string instruction keeps its time" \
	"$(is_at_least "$(share $cause "'fills'" "$(has op:rep_stosq)")" 80)"
check "8 - no weight is lost" "$(sqlite3 x.lode "SELECT iif(abs(s.value - c.value) <= 1e-9 * s.value, 'yes', 'no')
	FROM (SELECT total(value) value FROM cost JOIN event e ON e.id = event WHERE e.name = 'cpu-clock') s,
	(SELECT total(value) value FROM cost JOIN event e ON e.id = event WHERE e.name = '$cause') c")"
check "9 - it is the weight" "$(sqlite3 x.lode "SELECT iif(e.name = '$cause', 'yes', 'no')
	FROM event e JOIN meta ON meta.key = 'weight_event' AND e.id = meta.value")"
check "10 - a report has no second column of the same time" \
	"$("$lode" report x.lode --all --format csv | head -n 1 | grep -q cpu-clock || echo yes)"
id=$(sqlite3 x.lode "SELECT id FROM sequence_text WHERE sequence LIKE '%div%' ORDER BY size, id LIMIT 1")
"$lode" annotate x.lode "$id" --sampled >text
check "11 - annotate shows both on request" \
	"$(grep -q "executions *$cause *cpu-clock *address" text && echo yes)"
line=$(grep -n '/\* what waits \*/' "$source" | cut -d: -f1)
check "12 - of several tests that go on with the next round, the one that waits has the time" \
	"$(is_at_least "$(share $cause "'probes'" \
		"(SELECT line FROM location l WHERE l.id = i.location) = $line")" 60)"
check "13 - a division right after cqo has its time" \
	"$(is_at_least "$(share $cause "'halves'" "$(has op:idiv)")" 60)"
check "14 - so has one right after the upper half is cleared" \
	"$(is_at_least "$(share $cause "'parts'" "$(has op:div)")" 60)"
