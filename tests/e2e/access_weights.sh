#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `lode memory --weight accesses` of a program whose accesses are known: of four loads one waits, so
# that time and accesses differ. Prints TAP; skips where the kernel lets nobody sample, and where
# there is no compiler or no valgrind.
#
#   tests/e2e/access_weights.sh LODE PROGRAMS      PROGRAMS: the folder of waiting_loads.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
if ! gcc -g -O2 "$programs/waiting_loads.c" -o loads 2>err || ! command -v valgrind >/dev/null; then
	skip "there is no gcc or no valgrind"
fi

# percent PROFILE OBJECT OPTION…: of the weight of the loads of the two arrays.
percent() {
	"$lode" memory "$1" --by object --loads --format csv "${@:3}" 2>>err |
		awk -F, -v object="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["object"] ~ /\[\]$/ { all += $at["weight"] }
			$at["object"] == object { own += $at["weight"] }
			END { print all ? int(100 * own / all + 0.5) : "nothing" }'
}
# near EXPECTED FOUND: in percent; all four loads have samples by far.
near() { [ "$2" -ge $(($1 - 3)) ] && [ "$2" -le $(($1 + 3)) ] || echo "$2 %, not $1 %"; }

echo 1..3

"$lode" memory record -F 5000 --keep-recording=kept -o sampled.lode -- ./loads 3000000 >out 2>err
status=$?
sampled=$status
"$lode" memory sampled.lode --weight accesses >out 2>err
status=$?
check "executions that were not counted" "$(status_is 1)" \
	"$([ "$sampled" -eq 0 ] || echo "not recorded")" \
	"$(grep 'time is not accesses' err >/dev/null || echo "does not say why")"

valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file=counted \
	./loads 100000 >out 2>err
"$lode" import kept/perf.data counted -o joined.lode >out 2>>err
status=$?
check "counted executions" "$(status_is 0)" \
	"$(near 75 "$(percent joined.lode 'int near[]' --weight accesses)")" \
	"$([ "$(percent joined.lode 'long int far[]')" -gt "$(percent joined.lode 'long int far[]' --weight accesses)" ] || echo "the load that waits has no more time than accesses")"

if ! command -v qemu-x86_64 >/dev/null; then
	number=$((number + 1))
	echo "ok $number - traced accesses # SKIP there is no qemu-x86_64"
	exit 0
fi
"$lode" trace record -o loads.rps -- ./loads 50000 >out 2>err
"$lode" import loads.rps -o traced.lode >out 2>>err
status=$?
"$lode" import loads.rps --simulate d1=32K:8:64 -o misses.lode >out 2>>err
check "traced accesses" "$(status_is 0)" \
	"$(near 75 "$(percent traced.lode 'int near[]' --weight accesses)")" \
	"$("$lode" memory misses.lode --weight accesses >out 2>err && echo "misses are no accesses")"
