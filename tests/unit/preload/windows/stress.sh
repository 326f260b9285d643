#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs stress.c again and again while half of its time is stepped: it must print the same as without.
# Prints TAP.
#
#   tests/unit/preload/windows/stress.sh LIBRARY STRESS [RUNS]
set -uo pipefail
library=$(realpath "$1")
stress=$(realpath "$2")
runs=${3:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LD_PRELOAD LODE_WINDOWS

echo 1..1
expected=$("$stress")
wrong=0
for ((run = 1; run <= runs; run++)); do
	mkdir logs
	seen=$(LODE_WINDOWS=$work/logs LODE_WINDOWS_TIMER=1 LODE_WINDOWS_SHARE=0.5 \
		LODE_WINDOWS_SEED=$run LD_PRELOAD=$library "$stress" 2>&1)
	status=$?
	if [ $status -ne 0 ] || [ "$seen" != "$expected" ]; then
		echo "# run $run: status $status, '$seen', not '$expected'"
		wrong=$((wrong + 1))
	fi
	rm -rf logs
done
[ $wrong -eq 0 ] && [ -n "$expected" ] || printf 'not '
echo "ok 1 - $runs runs under steps print the same"
