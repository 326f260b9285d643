#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The lines of a program in Rust that waits, or calls the system, in the library of its language.
# Prints TAP; skips where the kernel lets nobody sample, and where there is no rustc.
#
#   tests/e2e/library_waits.sh LODE SOURCES      SOURCES: the folder of known_waits.py
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
program=$sources/scripts/waiting.rs

needs python3 rustc
needs_sampling
rustc -g -O "$program" -o waiting >err 2>&1 || skip "rustc makes no program"
export HOME=$work

echo 1..4

for kind in sleep peer table mutex; do
	rm -f truth
	"$lode" run -o "$kind.lode" -- ./waiting "$kind" truth >out 2>err
	status=$?
	"$lode" report "$kind.lode" --waits --format json >waits.json 2>>err
	"$lode" report "$kind.lode" --format json >report.json 2>>err
	check "$kind" "$(status_is 0)" \
		"$(python3 "$sources/known_waits.py" "$kind" truth waits.json report.json "$program" 2>&1)"
done
