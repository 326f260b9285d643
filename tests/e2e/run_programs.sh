#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lode run of a shell with two programs: all are in one profile, --only and --no-follow choose, the
# same way whether it samples, counts or traces. Prints TAP.
#
#   run_programs.sh LODE FOLLOWED_PROGRAM
set -euo pipefail
program=$(realpath "$2")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
cp "$program" first
cp "$program" a_second_of_a_long_name

# run N OPTION…: into x.lode; N is how much the two programs have to do
run() {
	local n=$1
	shift
	status=0
	rm -f x.lode
	# shellcheck disable=SC2016
	"$lode" run "$@" -o x.lode --report report -- sh -c './first burn $0; exec ./a_second_of_a_long_name burn $0' "$n" \
		>out 2>err || status=$?
	"$lode" info x.lode >facts 2>&1 || true
}
has() { grep -q "$work/$1 " facts || echo "no code of $1: $(<facts)"; }
has_not() { ! grep -q "$work/$1 " facts || echo "code of $1"; }
says() { grep -q "$1" err || echo "does not say '$1'"; }

# ways N OPTION…: the cases of one way of recording
ways() {
	run "$@"
	check "all programs: $*" "$(status_is 0)" "$(has first)" "$(has a_second_of_a_long_name)"
	run "$@" --only a_second_of_a_long_name
	check "one of a name: $*" "$(status_is 0)" "$(has_not first)" "$(has a_second_of_a_long_name)"
	run "$@" --only '*/fir*'
	check "one of a path: $*" "$(status_is 0)" "$(has first)" "$(has_not a_second_of_a_long_name)"
	run "$@" --only nothing
	check "none: $*" "$(status_is 1)" "$(says "^lode run: no .* a name like 'nothing'$")" \
		"$([ ! -e x.lode ] || echo 'there is a profile')"
}

if "$lode" record -o p.data -- true >/dev/null 2>&1; then
	ways 200
	"$lode" record -o p.data -- sh -c './first burn 200; exec ./a_second_of_a_long_name burn 200' >out 2>err
	"$lode" import --only first p.data -o x.lode >out 2>err
	"$lode" info x.lode >facts
	check "a recording of samples" "$(has first)" "$(has_not a_second_of_a_long_name)"
	# The program itself is what is executed first.
	"$lode" record -o p.data -- ./first "then" ./first burn 200 ./a_second_of_a_long_name burn 200 >out 2>err
	"$lode" import --no-follow p.data -o x.lode >out 2>err
	"$lode" info x.lode >facts
	check "the program itself" "$(has first)" "$(has_not a_second_of_a_long_name)"
	# At most 10,000 samples a second, of less than 20 ms.
	"$lode" run -o x.lode --report report -- ./first burn 25 >out 2>err
	check "too short for a diagnosis" "$(grep -q '^Too short to tell: ' report || cat report)" \
		"$("$lode" report --format json x.lode | grep '"diagnoses":\[\].*"too_short":true' >/dev/null || echo 'others in JSON')" \
		"$("$lode" report --fail-on 'division' x.lode 2>&1 >/dev/null | grep 'too short to tell' >/dev/null || echo 'not noted')"
fi
if command -v qemu-x86_64 >/dev/null; then
	ways 1 --exact --fast
	ways 1 --trace
	if "$lode" record -o p.data -- true >/dev/null 2>&1; then
		# As make, which builds in the first run only.
		cat >once <<-'END'
			#!/bin/sh
			[ -e done ] || { : >done; ./first burn 1000; }
		END
		chmod +x once
		"$lode" run --count --fast -o x.lode --report report -- ./once >out 2>err
		check "a program that does its work once" \
			"$(grep -q 'code that the counting run did not execute' report || cat report)"
	fi
	run 1 --exact --fast --no-follow
	check "the program itself, counted" "$(status_is 0)" "$(has_not first)" "$(has_not a_second_of_a_long_name)"
fi
echo "1..$number"
