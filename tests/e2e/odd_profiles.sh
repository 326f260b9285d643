#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What lode says of profiles that have little to say, or say something strange: without samples, with
# one, all weight in one place, uniform cost, weight where nothing executed, 10^15 executions, weights
# at both ends of a double. Each with executions as given and as inferred. All views must end well,
# without NaN or infinity, and the report must say what can be said; no verb may take the absence of
# samples for that of work. Prints TAP.
#
#   tests/e2e/odd_profiles.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

lode=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8 NO_COLOR=1
unset COLUMNS
touch err

if ! command -v sqlite3 >/dev/null; then
	echo "1..0 # SKIP there is no sqlite3"
	exit 0
fi

# flow WEIGHT COUNT: thirty functions of ten instructions in a row; what each weighs and executes, as
# expressions of awk in f, i and whether it is a division (is_div).
flow() {
	awk 'BEGIN {
		print "lode-flow 1\nevent cpu-clock"
		split("mov add load store mov div add load mov branch", kinds)
		for (f = 0; f < 30; f++) {
			print "graph f" f
			for (i = 1; i <= 10; i++) {
				is_div = kinds[i] == "div"
				printf "v %d %s %s op:%s kind:%s%s\n", i, '"$1"', '"$2"', kinds[i],
					kinds[i], i == 1 ? " at:entry" : ""
				if (i < 10)
					printf "e %d %d %s\n", i, i + 1, '"$2"'
			}
		}
	}'
}

# Makes x.lode of x.flow: as given; or as of samples, so many, with inferred executions.
make_profile() {
	local samples=$1
	rm -f x.lode
	"$lode" import x.flow -o x.lode >out 2>err || return
	[ "$samples" = given ] || sqlite3 x.lode "
		UPDATE meta SET value = 'inferred' WHERE key = 'frequency';
		UPDATE meta SET value = $samples.0 WHERE key = 'samples';
		UPDATE event SET kind = 'sampled' WHERE name = 'cpu-clock';
		DELETE FROM block;
		INSERT INTO block SELECT id, id, 1, 11, calls, 0, 0 FROM function;
		UPDATE instruction SET block = function;" 2>err
}

# Runs a view; says what is wrong with how it ended or with its figures.
look() {
	local ended=0
	"$lode" "$@" >out 2>err || ended=$?
	[ $ended -le 1 ] || echo "lode $*: status $ended"
	[ $ended -ne 1 ] || [ -s err ] || echo "lode $*: status 1 without a reason"
	grep -Eiq '(^|[^a-z])[-+]?(nan|inf|infinity)([^a-z]|$)' out err && echo "lode $*: not a number"
	case "$*" in
	*json*)
		[ $ended -ne 0 ] || [ "$(sqlite3 :memory: "SELECT json_valid(readfile('out'))")" = 1 ] ||
			echo "lode $*: no JSON"
		;;
	esac
}

# in_ways WAY…: a view in each of these ways. Where tests are to be short in one, with each profile
# but one in the next, so that each way sees executions as given and as inferred.
in_ways() {
	local way ways=("$@")
	[ -z "${LODE_SHORT_TESTS:-}" ] || ways=("${ways[n_odd / 2 % $#]}")
	for way in "${ways[@]}"; do
		# shellcheck disable=SC2086 # words
		look $way
	done
}

# What compares, joins and writes profiles, with even.lode (of uniform cost) as the other.
look_beyond() {
	in_ways "export x.lode --format "{callgrind,pprof,firefox,folded,flow}
	in_ways "diff even.lode x.lode --by all --all" "diff x.lode even.lode --by all --format json" \
		"diff x.lode x.lode --by all --all"
	look signature x.lode --name odd -o known/odd.sig
	look classify x.lode --signatures known --format json
	rm -f known/odd.sig
	look memory x.lode
	rm -f all.lode
	look merge x.lode even.lode -o all.lode
	[ ! -e all.lode ] || { look mine all.lode && look report all.lode; }
	# Has the answers of lode serve.
	look report x.lode --html x.html
	[ ! -e x.html ] || ! grep -aEq '[:,[]-?(nan|inf)[],}]' x.html || echo "x.html: not a number"
}

# odd NAME WEIGHT COUNT SAMPLES GIVEN INFERRED: GIVEN and INFERRED are what the report has to have in
# it, extended regular expressions. Where tests are to be short, as given and as inferred take turns.
odd() {
	local how hows=(given "$4") expected faults
	n_odd=$((n_odd + 1))
	[ -z "${LODE_SHORT_TESTS:-}" ] || hows=("${hows[n_odd % 2]}")
	flow "$2" "$3" >x.flow
	for how in "${hows[@]}"; do
		expected=$5
		[ "$how" = given ] || expected=$6
		make_profile "$how" || { check "$1" "cannot be imported" && continue; }
		mapfile -t faults < <(
			look mine x.lode
			in_ways "report x.lode --"{explain,"explain --format json","format csv",all,"all --format json"}
			look report x.lode
			look report x.lode --findings
			tr '\n' ' ' <out | grep -Eq -- "$expected" || {
				echo "the report lacks '$expected':"
				cat out
			}
			in_ways "annotate x.lode "{F1,"F2 --format json","function f3","function f3 --format json"}
			look info x.lode
			look_beyond
		)
		check "$1, executions $([ "$how" = given ] && echo given || echo inferred)" "${faults[@]}"
	done
}

none='No pattern and no place costs more than the rest'
n_odd=0
mkdir known
flow 1000 100 >x.flow
"$lode" import x.flow -o even.lode >out 2>err
"$lode" signature even.lode --name even -o known/even.sig >out 2>err
odd "no weight" 0 100 0 'The profile has no weight' 'The profile has no weight'
odd "one sample" 'f == 3 && i == 6 ? 50000 : 0' 100 1 'f3 \(6\)' "$none, as far as 1 sample can"
odd "all in one place" 'f == 3 && i == 6 ? 1e9 : 0' 100 20000 \
	'99\.[0-9] % .*F1  f3 \(6\)|100.0 % .*F1  f3 \(6\)' 'F1  f3 \(6\)'
odd "uniform cost" 1000 100 3000 "$none" "$none"
odd "weight where nothing executed" 'is_div ? 5000 : 100' 'is_div ? 0 : 100' 1770 \
	'84.7 % of the weight lies where no executions were counted' 'F1 .*div'
odd "nothing executed" 'is_div ? 5000 : 100' 0 1770 \
	'100.0 % of the weight lies where no executions were counted' 'F1  ⟪div⟫'
odd "10^15 executions" 'is_div ? 5e6 : 1e5' 1e15 1770 \
	'costs [1-9].*e-1[0-9] ns.*\+[1-9].*e-09 ns .*F1  ⟪div⟫' 'F1  ⟪div⟫'
odd "tiny weights" 'is_div ? "5e-300" : "1e-300"' 100 1770 'F1  ⟪div⟫' 'F1  ⟪div⟫'
odd "huge weights" 'is_div ? "5e300" : "1e300"' 100 1770 'F1  ⟪div⟫' 'F1  ⟪div⟫'

# One sample of what has three thousand in the other recording: where it is not, there may be as much.
flow 1000 100 >x.flow
make_profile 3000
mv x.lode base.lode
flow 'f == 3 && i == 6 ? 50000 : 0' 100 >x.flow
make_profile 1
look diff base.lode x.lode >faults
mapfile -t faults <faults
check "diff with a recording of one sample" "${faults[@]}" \
	"$(grep -q '^No change that the samples can tell .*: 30 functions' out || cat out)"
flow 'f == 3 && i == 6 ? 50000 : 0' '(i < 6 ? 0 : 100)' >x.flow
make_profile 1
"$lode" classify x.lode --signatures known >out 2>err || status=$?
check "a profile of one sample is of no unknown work" "$(status_is 0)" \
	"$(head -1 out | grep -q 'too few samples (1) to say' || cat out)"
echo "1..$number"
