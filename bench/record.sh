#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of 'lode run': ten programs alone, under its default, without windows, without registers,
# and under 'perf record' with registers at the same rate, in turn.
#   bench/record.sh [PAIRS [PROGRAM…]]        default: 15, all
# Prints for each program its processor time alone, and the median of the pairs' ratios to it, of the
# program's user and system time as the kernel accounts it. "answer" is the processor time of lode
# itself, from the recording to the report. LODE names the lode to use (default:
# build/src/cli/lode), SCALE how long programs run (default: 7, about as many seconds), RATE the
# samples a second (default: lode's own). ONLY=default leaves out what is compared with the default.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=$(realpath "${LODE:-build/src/cli/lode}")
scale=${SCALE:-7}
pairs=${1:-15}
shift $(($# > 0))
wanted=("$@")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
# shellcheck source=bench/real_programs.sh
. bench/real_programs.sh

rate=()
[ -z "${RATE:-}" ] || rate=(-F "$RATE")
options=(-o "$directory/x.lode" --report /dev/null "${rate[@]}")
registers=--user-regs=ax,bx,cx,dx,si,di,bp,sp,ip,flags,r8,r9,r10,r11,r12,r13,r14,r15

# The user and system time of a shell's children, in milliseconds, from what its "times" printed.
milliseconds() { tail -n 1 "$1" | tr 'ms' '  ' | awk '{ printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }'; }

# cpu_times RECORDER… -- PROGRAM…: milliseconds of the program, as it sees them itself, and of the
# recorder.
cpu_times() {
	local recorder=()
	while [ "$1" != -- ]; do
		recorder+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016 # for the shells
	bash -c '"$@" >/dev/null 2>&1; times >"$0"' "$directory/all" "${recorder[@]}" \
		bash -c '"$@" >/dev/null 2>&1; times >"$0"' "$directory/own" "$@"
	echo "$(milliseconds "$directory/own") $(($(milliseconds "$directory/all") - $(milliseconds "$directory/own")))"
}

# measure NAME PROGRAM [ARGUMENT…]
measure() {
	local name=$1 i hz=${RATE:-}
	shift
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: no $1" >&2 && return 0; }
	for ((i = 0; i < pairs; i++)); do
		local alone default with without other
		alone=$(cpu_times env -- "$@")
		default=$(cpu_times "$lode" run "${options[@]}" -- "$@")
		[ -n "$hz" ] || hz=$("$lode" info "$directory/x.lode" |
			sed -n 's/.*sampled \([0-9]*\) times a second.*/\1/p' | head -n 1)
		[ "${ONLY:-}" != default ] || { echo "$alone $default" && continue; }
		with=$(cpu_times "$lode" run --windows off "${options[@]}" -- "$@")
		without=$(cpu_times "$lode" run --no-registers "${options[@]}" -- "$@")
		other=$(cpu_times perf record -q -N -e cpu-clock:u -F "$hz" "$registers" \
			-o "$directory/perf.data" -- "$@")
		echo "$alone $default $with $without $other"
	done >"$directory/figures"
	awk -v name="$name" -v hz="$hz" '
		{ base[NR] = $1; all[NR] = $3 / $1; has_others = NF > 4; with[NR] = $5 / $1; without[NR] = $7 / $1; other[NR] = $9 / $1
			answer[NR] = $4 }
		function median(v,   i, j, t) {
			for (i = 2; i <= NR; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
		}
		function percent(v) { return (median(v) - 1) * 100 }
		END {
			printf "%-8s %7.2f s %6d Hz %9.1f %% ", name, median(base) / 1000, hz, percent(all)
			if (has_others)
				printf "%10.1f %% %12.1f %% %7.1f %% ", percent(with), percent(without), percent(other)
			else
				printf "%12s %14s %9s ", "", "", ""
			printf "%8.2f s\n", median(answer) / 1000
		}' "$directory/figures"
}

printf '%-8s %9s %9s %11s %12s %14s %9s %10s\n' program alone rate "lode run" "no windows" "no registers" perf \
	answer
measure_ten_programs
