#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The placement of a program whose threads each wait for their own memory and share a small table:
# they go onto different memories, with what is theirs. Prints TAP; skips where the kernel lets
# nobody sample, and where there is no compiler.
#
#   tests/e2e/place_threads.sh LODE PROGRAMS      PROGRAMS: the folder of own_and_shared.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
if ! gcc -g -O2 -pthread "$programs/own_and_shared.c" -o both 2>err; then
	skip "there is no gcc"
fi

echo 1..2
"$lode" memory record -F 4000 -o both.lode -- ./both 10000000 >out 2>err
status=$?
"$lode" place both.lode --topology "numa:2 core:4 pu:1" -o place >out 2>>err

# memory THREAD: onto which it goes.
memory() { sed -n "s/^run thread $1 on memory //p" place; }
# pages MEMORY: that are placed there, in hexadecimal ranges.
pages() {
	sed -n "s/^place range 0x\([0-9a-f]*\) to 0x\([0-9a-f]*\) on memory $1 .*own.*/\1 \2/p" place |
		while read -r first last; do echo $(((16#$last - 16#$first + 1) / 4096)); done |
		awk '{ sum += $1 } END { print sum + 0 }'
}
apart() { [ -n "$(memory 1)" ] && [ "$(memory 1)" != "$(memory 2)" ] || echo "both on memory '$(memory 1)'"; }
# Each has its half of 16,384 pages; that some at the border are the other's is chance.
halves() { for i in 0 1; do [ "$(pages $i)" -gt 7000 ] || echo "only $(pages $i) pages on memory $i"; done; }
few() { [ "$(grep -c '^place range\|^interleave range' place)" -le 20 ] || echo "many ranges: pages of few samples decide alone"; }
check "threads with memory of their own are separated" "$(status_is 0)" "$(apart)" "$(halves)" "$(few)"

if ! command -v qemu-x86_64 >/dev/null; then
	number=$((number + 1))
	echo "ok $number - a trace is of another address space # SKIP there is no qemu-x86_64"
	exit 0
fi
"$lode" trace record -o both.rps -- ./both 1000 >out 2>err
"$lode" import both.rps -o traced.lode >out 2>>err
"$lode" place traced.lode >out 2>err
status=$?
check "a trace is of another address space" "$(status_is 1)" \
	"$(grep 'addresses are of an address trace' err >/dev/null || echo "does not say why")"
