#!/bin/bash
# SPDX-License-Identifier: MIT
# Executions with windows beside exact ones: records each program at full speed with windows and
# without, and counted, and prints what windows improve and what they cost.
#   bench/windows.sh [DIRECTORY [PROGRAM…]]
# The recordings are kept in DIRECTORY, and those that are there are taken. Default: all programs.
# LODE names the lode to use (default: build/src/cli/lode), SCALE how long programs run (default: 7,
# about as many seconds), SHARE the processor time for windows (default: 3%), PAIRS how often the
# cost is measured, with windows and without in turn (default: 5; 0: not). ONLY=cost measures nothing
# else.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=$(realpath "${LODE:-build/src/cli/lode}")
scale=${SCALE:-7}
share=${SHARE:-3%}
pairs=${PAIRS:-5}
if [ $# -gt 0 ]; then
	directory=$(realpath -m "$1")
	mkdir -p "$directory"
	shift
else
	directory=$(mktemp -d)
	trap 'rm -rf "$directory"' EXIT
fi
# shellcheck source=bench/real_programs.sh
. bench/real_programs.sh
# The library must choose the same variants of memcpy and the like as in qemu.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ

# record KIND OPTION… -- PROGRAM…: $directory/$name.KIND.lode
record() {
	local kind=$1
	shift
	[ ! -e "$directory/$name.$kind.lode" ] || return 0
	"$lode" run --min-support=20% -o "$directory/$name.part" --report /dev/null "$@" \
		>/dev/null 2>"$directory/$name.$kind.log"
	mv "$directory/$name.part" "$directory/$name.$kind.lode"
}

# cpu_time OPTION PROGRAM…: processor time of the program, in milliseconds, recorded with an option.
# The recorder's own is not the program's.
cpu_time() {
	local option=$1
	shift
	# shellcheck disable=SC2016 # for the recorded shell
	"$lode" record -F 1000 "$option" -o "$directory/cost" -- \
		bash -c '"$@" >/dev/null 2>&1; times' bash "$@" 2>/dev/null | tail -n 1 |
		tr 'ms' '  ' | awk '{ printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }'
}

# cost PROGRAM…: the median of the pairs' ratios, in percent, and the quartiles
cost() {
	local i without with
	for ((i = 0; i < pairs; i++)); do
		without=$(cpu_time --windows=off "$@")
		with=$(cpu_time "--windows=$share" "$@")
		echo "$without $with"
	done | awk '{ print ($2 / $1 - 1) * 100, $1 }' | sort -g | awk '
		{ value[NR] = $1; sum += $2 }
		function quantile(q,   at) {
			at = 1 + q * (NR - 1)
			return value[int(at)] + (at - int(at)) * (value[int(at) + (at > int(at))] - value[int(at)])
		}
		END { if (NR > 0) printf "   cost %.1f %% (%.1f to %.1f) of %.1f s", quantile(0.5),
			quantile(0.25), quantile(0.75), sum / NR / 1000 }'
}

# measure NAME PROGRAM [ARGUMENT…]
measure() {
	name=$1
	shift
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: no $1" >&2 && return 0; }
	if [ "${ONLY:-}" = cost ]; then
		printf '%-8s%s\n' "$name" "$(cost "$@")"
		return
	fi
	record exact --exact --fast -- "$@"
	record inferred -F 10000 --windows=off --keep-recording="$directory/$name.off" -- "$@"
	record windows -F 10000 --windows="$share" --keep-recording="$directory/$name.on" -- "$@"
	printf '%s%s%s\n' "$(bench/windows.py "$name" "$directory/$name".{inferred,windows,exact}.lode)" \
		"$(waits)" "$(cost "$@")"
}

# Weight at what waited, as the exact edges charge it: inferred, with windows.
waits() {
	local kind
	printf '   waits'
	for kind in inferred windows; do
		bench/inferred_overlap.py "$directory/$name.$kind.lode" "$directory/$name.exact.lode" |
			awk '$1 == "waits" { printf " %.3f", $3 }'
	done
}

wanted=("$@")
[ "${ONLY:-}" = cost ] || bench/windows.py --head
measure_ten_programs
