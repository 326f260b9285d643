#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs of many processes, whose numbers and order are known: how often each ran, which of them
# the end waited for, and what is said of those that start them. Prints TAP; skips where the kernel
# lets nobody sample, and where there is no compiler, no make or no python3.
#
#   tests/e2e/programs.sh LODE SOURCES      SOURCES: the folder of known_waits.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
export HOME=$work

needs gcc make python3 xargs sed
needs_sampling
gcc -g -O2 "$sources/burning.c" -o burning 2>err || skip "gcc makes no program"

cat >substitute.sh <<'END'
i=0
while [ $i -lt 150 ]; do
	i=$((i + 1))
	x=$(sed -n ${i}p "$0")
done
END
printf 'all: a b c d\na b c d:\n\t./burning 0.2\n' >serial.mk
printf 'all: a b slow\n\t./burning 0.3\na b:\n\t./burning 0.1\nslow:\n\t./burning 0.6\n' >bottleneck.mk
cat >items.py <<'END'
import subprocess
for i in range(400):
    subprocess.run(["sed", "-n", f"{i + 1}p", "items.py"], stdout=subprocess.PIPE, check=True)
END
cat >storm.sh <<'END'
i=0
while [ $i -lt 120 ]; do
	./burning 0.002 &
	i=$((i + 1))
done
wait
END
# The same each time; with another input each time.
# shellcheck disable=SC2016
printf 'for i in %s; do x=$(./burning 0.05); done\n' "$(seq -s ' ' 16)" >again.sh
# shellcheck disable=SC2016
printf 'for i in %s; do x=$(echo $i | ./burning 0.05); done\n' "$(seq -s ' ' 16)" >input.sh
# The same variables in any order, and what shells set for themselves.
cat >order.sh <<'END'
for order in 'A=1 B=1 C=1' 'A=1 C=1 B=1' 'B=1 A=1 C=1' 'B=1 C=1 A=1' 'C=1 A=1 B=1' 'C=1 B=1 A=1'; do
	for i in 1 2 3; do
		x=$(env -i _=$i $order ./burning 0.05)
	done
done
END
# shellcheck disable=SC2016
printf 'V = $(shell ./burning 0.05)\nall: %s\n%%.out:\n\t@echo $* $(V)\n' "$(seq -s ' ' -f '%g.out' 16)" >variable.mk
# Not a wrapper that chooses one.
python=$(python3 -c 'import sys; print(sys.executable)')

printf './burning 0.3\n:\n' >single.sh
seq -f 'item%g' 150 >items.txt
xargs touch <items.txt

# The program, how often it runs, in all and on the critical path for how long at least, who waits
# for it, and the beginning of a diagnosis's title; -: there is none of waiting for children, !: none of the same
# command, *: any.
rows='substitute sed 150 0 0 sh many short processes
xargs wc 150 0 0 xargs many short processes
items sed 400 0 0 python many short processes
serial burning 4 0.8 0.6 make processes in a row
bottleneck burning 4 1.1 0.7 make -
again burning 16 0.8 0.4 sh the same commands again
order burning 18 0.9 0.45 sh the same commands again
input burning 16 0.8 0.4 sh !
variable burning 16 0.8 0.4 make the same commands again
single burning 1 0.3 0.2 sh -
storm burning 120 0.24 0 * *'

commands_of() {
	case $1 in
	substitute) echo sh substitute.sh ;;
	xargs) echo xargs -n 1 -a items.txt wc -c ;;
	items) echo "$python" items.py ;;
	serial) echo make -f serial.mk ;;
	bottleneck) echo make -j 2 -f bottleneck.mk ;;
	again) echo sh again.sh ;;
	order) echo sh order.sh ;;
	input) echo sh input.sh ;;
	variable) echo make -f variable.mk ;;
	single) echo sh single.sh ;;
	storm) echo sh storm.sh ;;
	esac
}

echo "1..$(wc -l <<<"$rows")"
while read -r kind program count least path parent title; do
	read -ra words <<<"$(commands_of "$kind")"
	"$lode" run -o "$kind.lode" -- "${words[@]}" >out 2>err
	status=$?
	{
		"$lode" report "$kind.lode" >screen
		"$lode" report "$kind.lode" --programs --format json >programs.json
		"$lode" report "$kind.lode" --waits --format json >waits.json
		"$lode" report "$kind.lode" --format json >report.json
	} 2>>err
	check "$kind" "$(status_is 0)" "$(holds grep -q "^programs: .*$program" screen)" \
		"$(holds test "$(wc -l <screen)" -le 25)" \
		"$(python3 "$sources/known_programs.py" "$program" "$count" "$least" "$path" "$parent" "$title" 2>&1)"
done <<<"$rows"
