#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs of many odd kinds print and end the same whether or not windows of them are executed step
# by step: with a timer of the library's own, with events of lode's, and by probes from outside. Prints
# TAP.
#
#   tests/e2e/windows_odd.sh LODE LIBRARY ODD EXCEPTIONS.cpp OWN
#
# In the environment, for the soak:
#   LODE_ODD_RUNS      runs of each kind each way (1)
#   LODE_ODD_PERCENT   of a kind's rounds, which take some 0.1 s of processor time (30)
#   LODE_ODD_KINDS     a regular expression: only kinds that match
#   LODE_ODD_WAYS      of "timer", "event" and "probes" (probes, which are the default; windows, which
#                      are asked for, by timers for a third of the kinds and by events for another)
#   LODE_ODD_LIMIT     seconds after which a run hangs (60)
#   LODE_ODD_JOBS      at once (as many as there are processors)
#   LODE_ODD_TABLE     a file to which "KIND CHANGED RUNS WINDOWS STEPS" are appended
#   LODE_WINDOWS_SEED  each run's seed is drawn from it (1)
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

export library=$2 odd exceptions own lode
library=$(realpath "$2")
odd=$(realpath "$3")
sources=$(realpath "$4")
own=$(realpath "$5")
begin "$1"
exceptions=$work/exceptions
export runs=${LODE_ODD_RUNS:-1} percent=${LODE_ODD_PERCENT:-30} limit=${LODE_ODD_LIMIT:-60}
export LODE_WINDOWS_SEED=${LODE_WINDOWS_SEED:-1}
# Messages about wrong memory must be the program's own.
unset MALLOC_PERTURB_ ASAN_OPTIONS

# execute KIND COMMAND…: the program as a child of a shell, which keeps what it prints and its status.
execute() {
	local program=$odd kind=$1
	shift
	[[ $kind != exception-* ]] || program=$exceptions
	[[ $kind != own-* ]] || program=$own
	timeout "$limit" "$@" sh -c '"$@" >out 2>err; echo $? >status' sh "$program" "$kind" "$percent" \
		>wrapper 2>&1 </dev/null || echo "wrapper: status $?" >>wrapper
}
# Windows and steps of all logs in a directory; see window_log_format.h.
counts_of_logs() {
	local log windows=0 steps=0 of_log
	for log in "$1"/*.log; do
		[ -e "$log" ] || continue
		read -ra of_log < <(od -An -tu8 -j40 -N16 "$log")
		windows=$((windows + of_log[0])) steps=$((steps + of_log[1]))
	done
	echo "$windows $steps"
}
# The same as lode says it.
counts_of_lode() {
	sed -n 's/,//g; s/^lode record: \([0-9]*\) windows\{0,1\} with \([0-9]*\) instruction.*/\1 \2/p; $s/.*/0 0/p' "$1" |
		head -n 1
}
# One kind: writes "changed RUNS WINDOWS STEPS" to ./result, and what changed to ./changes.
try_kind() {
	local kind=$1 note=$2 way option run seed logs windows steps n_runs=0 changed=0 all_windows=0 all_steps=0
	mkdir -p "kinds/$kind" && cd "kinds/$kind" || return
	execute "$kind" env
	for file in out err status; do mv $file plain.$file; done
	for way in $ways; do
		[ "$way $note" != "timer event" ] || continue
		is_tried "$kind" "$way" || continue
		for ((run = 1; run <= runs; run++)); do
			seed=$((LODE_WINDOWS_SEED * 1000003 + run))
			logs=$PWD/windows
			rm -rf "$logs" out err status
			mkdir "$logs"
			if [ "$way" = timer ]; then
				execute "$kind" env LODE_WINDOWS_SEED=$seed LODE_WINDOWS="$logs" LODE_WINDOWS_TIMER=1 \
					LODE_WINDOWS_SHARE=0.5 LD_PRELOAD="$library"
				read -r windows steps < <(counts_of_logs "$logs")
			else
				option=--windows=50%
				[ "$way" != probes ] || option=--probes=20%
				execute "$kind" env LODE_WINDOWS_SEED=$seed "$lode" record $option -o recording --
				read -r windows steps < <(counts_of_lode wrapper)
			fi
			all_windows=$((all_windows + windows)) all_steps=$((all_steps + steps))
			n_runs=$((n_runs + 1))
			for file in out err status; do
				cmp -s plain.$file $file && continue
				changed=$((changed + 1))
				{
					echo "$way, run $run, seed $seed: $file"
					diff plain.$file $file | head -n 10
					head -n 5 wrapper
				} >>changes
				break
			done
		done
	done
	echo "$changed $n_runs $all_windows $all_steps" >result
	rm -rf windows recording core*
}
# is_tried KIND WAY
is_tried() {
	local third
	[ -z "${LODE_ODD_WAYS:-}${LODE_LONG_TESTS:-}" ] && [ "$2" != probes ] || return 0
	third=$(($(cksum <<<"$1" | cut -d ' ' -f 1) % 3))
	[ "$2 $third" = "timer 0" ] || [ "$2 $third" = "event 1" ]
}

export -f is_tried execute counts_of_logs counts_of_lode try_kind

ways=${LODE_ODD_WAYS:-timer event probes}
if [ "$(printf '5.18\n%s\n' "$(uname -r)" | sort -V | head -n 1)" != 5.18 ]; then
	ways=${ways/event/}
	echo "# no events before Linux 5.18"
elif ! "$lode" record --windows 50% -o trial -- true >trial.out 2>&1; then
	ways=${ways/event/}
	echo "# no events: $(head -n 1 trial.out)"
fi
export ways
programs=("$odd" "$own")
if command -v g++ >/dev/null && g++ -O1 -g -fnon-call-exceptions -pthread -o "$exceptions" "$sources" 2>err; then
	programs+=("$exceptions")
fi
for program in "${programs[@]}"; do "$program" --list; done | grep -E "${LODE_ODD_KINDS:-.}" >kinds.txt
# shellcheck disable=SC2016 # for the inner shell
xargs -P "${LODE_ODD_JOBS:-$(nproc)}" -n 2 bash -c 'try_kind "$1" "$2"' _ <kinds.txt

expected=0
had=0
total=0
while read -r kind note; do
	changed=none all=0 windows=0 steps=0
	[ ! -e "kinds/$kind/result" ] || read -r changed all windows steps <"kinds/$kind/result"
	fault=
	[ "$changed" = 0 ] || fault="changed runs: $changed of $all"
	if [ "$note" = known ] && [ -n "$fault" ] && [ "$changed" != none ]; then
		note="known: $fault"
		fault=
	fi
	changes=
	[ -z "$fault" ] || changes=$(head -n 12 "kinds/$kind/changes" 2>&1 | sed '2,$s/^/#   /')
	check "$kind ($note): $all runs, $windows windows, $steps steps" "$fault" "$changes"
	[ -z "${LODE_ODD_TABLE:-}" ] || echo "$kind $changed $all $windows $steps" >>"$LODE_ODD_TABLE"
	total=$((total + windows))
	[ "$note" = some ] || continue
	is_tried "$kind" timer || is_tried "$kind" event || continue
	expected=$((expected + 1))
	[ "$windows" -eq 0 ] || had=$((had + 1))
done <kinds.txt
# A directory in which others may write is not the recorder's, and what a process starts then has
# neither the library nor its variables.
mkdir open && chmod 777 open
LODE_WINDOWS=$PWD/open LODE_WINDOWS_SHARE=0.5 LD_PRELOAD=$library sh -c 'env; true' >variables
LODE_WINDOWS=$PWD/gone LODE_WINDOWS_SHARE=0.5 LD_PRELOAD=$library sh -c 'env; true' >>variables
check "a directory that is anybody's" "$(holds [ -z "$(ls open)" ])" \
	"$(holds [ "$(grep -cE '^(LODE_WINDOWS|LD_PRELOAD)' variables)" = 0 ])"
# A test that steps nothing cannot fail.
check "$total windows, in $had of $expected kinds that should have some" \
	"$(holds [ $((3 * had)) -ge "$expected" ])"

echo "1..$number"
