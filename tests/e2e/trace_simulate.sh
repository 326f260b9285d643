#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lode trace simulate -- PROGRAM: what is simulated while a program runs is what its trace gives, and
# output, error and status are those of the program. Prints TAP.
#
#   trace_simulate.sh LODE TRACED_STATIC FOLLOWED_PROGRAM
set -euo pipefail
static=$(realpath "$2")
followed=$(realpath "$3")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

needs qemu-x86_64
begin "$1"
caches='i1=1K:2:64,d1=1K:2:64,l2=4K:4:64'

# simulate ARGUMENT…: into out, err and status
simulate() {
	status=0
	{ "$lode" trace simulate "$@" >out 2>err || status=$?; } 2>/dev/null
}
says() { grep -q -- "$1" err || echo "does not say '$1'"; }
wrote() { [ "$(cat out)" = "$1" ] || echo "it wrote: $(cat out)"; }
# csv without its first column, the process
without_process() { cut -d, -f2- "$1"; }

# The same environment, or the stack is elsewhere.
"$lode" trace record --level fast -o x.rps -- "$static" 2>err
for part in "" "--from=100 --count=300" "--from=200 --warm-up=100" "--every=200 --length=50 --warm-up=20" \
	"--quantum=64" "--classify" "--cache=d1=1K..4K:2:64"; do
	# shellcheck disable=SC2086
	"$lode" trace simulate x.rps --cache "$caches" $part --format csv -o file.csv
	# shellcheck disable=SC2086
	simulate --cache "$caches" $part --format csv -o own.csv -- "$static"
	check "what its trace gives ${part:-(all)}" "$(status_is 0)" "$(wrote '')" \
		"$(diff file.csv <(without_process own.csv) 2>&1)" "$([ -s own.csv ] || echo 'it is empty')"
done
"$lode" trace simulate x.rps --curve all --line 16 --format csv -o file.csv
simulate --curve all --line 16 --format csv -o own.csv -- "$static"
check "curves" "$(status_is 0)" "$(diff file.csv <(without_process own.csv) 2>&1)"
"$lode" trace simulate x.rps --curve data --by thread --format csv -o file.csv
simulate --curve data --by thread --format csv -o own.csv -- "$static"
check "curves by thread" "$(status_is 0)" "$(diff file.csv <(without_process own.csv) 2>&1)" \
	"$(awk -F, 'NR > 1 { if ($1 == "all") all[$4] = $6; else sum[$4] += $6 } END { for (i in all)
		if (all[i] != sum[i]) print i, all[i], sum[i] }' file.csv)" "$(grep -q '^0,' file.csv || cat file.csv)"
simulate --cache "$caches" --over-time 4 --format csv -o own.csv -- "$static"
check "over time, of a program that is shorter than a stretch" "$(status_is 0)" \
	"$([ "$(grep -c '^1,0,' own.csv)" -eq 3 ] || cat own.csv)"
"$lode" trace simulate x.rps --cache "$caches" --over-time 4 --format csv -o file.csv
check "its misses add up" "$([ "$(awk -F, 'NR > 1 { s[$5] += $7 } END { print s["d1"] }' file.csv)" -eq \
	"$(awk -F, '$6 == "d1" { print $8 }' own.csv)" ] || cat file.csv own.csv)"
"$lode" trace simulate x.rps --cache "$caches" --format json -o file.json
simulate --cache "$caches" --format json -o own.json -- "$static"
check "JSON" "$(diff <(sed 's/"trace":"x.rps"/"trace":null/' file.json) own.json 2>&1)"

# What the recorder leaves out while the program runs is left out of the whole trace likewise.
for function in outer inner; do
	"$lode" trace record --level fast --function $function -o f.rps -- "$static" 2>err
	"$lode" trace unpack f.rps -o f.txt
	"$lode" trace unpack x.rps --function $function -o own.txt
	status=0
	"$lode" trace cut x.rps --function $function --level fast -o cut.rps >out
	"$lode" trace unpack cut.rps -o cut.txt
	check "the function $function of a whole trace" "$([ -s f.txt ] || echo 'it is empty')" \
		"$(cmp f.txt own.txt 2>&1)" "$(cmp f.txt cut.txt 2>&1)"
	"$lode" trace simulate f.rps --cache "$caches" --format csv -o f.csv
	"$lode" trace simulate x.rps --cache "$caches" --format csv --function $function -o file.csv
	simulate --cache "$caches" --format csv -o own.csv --function $function -- "$static"
	check "misses in the function $function" "$(status_is 0)" "$(cmp f.csv file.csv 2>&1)" \
		"$(diff f.csv <(without_process own.csv) 2>&1)"
	"$lode" import f.rps -o f.lode >out
	"$lode" import x.rps --function $function -o own.lode >out
	"$lode" export f.lode -o f.flow && "$lode" export own.lode -o own.flow
	check "the profile of the function $function" \
		"$(diff <(grep -v '^#' f.flow) <(grep -v '^#' own.flow) 2>&1 | head -20)" \
		"$([ "$(grep -c . own.flow)" -gt 5 ] || echo 'it is empty')"
done
"$lode" trace info x.rps --function inner --format csv >info.csv
check "what is read is said" "$(grep -q "\"of these, read\",$(wc -l <f.txt)," info.csv || cat info.csv)"
simulate x.rps --function nowhere
check "a function that no image has" "$(status_is 1)" "$(says "has a function 'nowhere'")"
simulate x.rps --function outer --every 100 --length 10
check "no sample of a function" "$(status_is 2)" "$(says '--every cannot be used with --function')"
simulate --function outer --count 10 -- "$static"
check "a function and a part of a program" "$(status_is 2)" "$(says '--count')"
simulate --cache "$caches" -- sh -c 'echo text; exit 3'
check "output and status are the program's, results go elsewhere" "$(status_is 3)" "$(wrote text)" \
	"$(says ' references · ')" "$(says '^l2 ')"
# shellcheck disable=SC2016
simulate --cache "$caches" -- sh -c 'kill -SEGV $$'
check "a signal ends the program" "$(status_is 139)" "$(says '^l2 ')"

simulate --cache "$caches" --format csv -o own.csv -- sh -c '/bin/echo one; /bin/true'
check "processes by themselves" "$(status_is 0)" "$(wrote one)" \
	"$([ "$(cut -d, -f1 own.csv | sort -u | wc -l)" -ge 4 ] || cat own.csv)"
simulate --cache "$caches" --format json -o own.json -- "$followed" many 20
check "as many as there are" "$(status_is 0)" "$([ "$(grep -c '"program":' own.json)" -eq 21 ] || grep -c '"program":' own.json)"
simulate --cache "$caches" --only echo -- sh -c '/bin/echo one; /bin/true'
check "only some" "$(status_is 0)" "$(wrote one)" "$([ "$(grep -c ' references · ' err)" -eq 1 ] || echo 'not one')" \
	"$(says '^/bin/echo one · ')"
simulate --no-follow --cache "$caches" -- sh -c '/bin/echo one'
check "the program alone" "$(status_is 0)" "$([ "$(grep -c ' references · ' err)" -eq 1 ] || echo 'not one')" "$(says 'not traced')"

simulate --cache "$caches" --from 1000000 -- "$static"
check "nothing in the range" "$(status_is 1)" "$(says 'ended before reference 1000000')"
simulate --cache "$caches" --count 100 -- "$static"
check "the rest is not traced" "$(status_is 0)" "$(says ' 100 references · ')"
simulate --only sh x.rps
check "options of a program need one" "$(status_is 2)" "$(says 'after')"
simulate --
check "no program" "$(status_is 2)" "$(says 'PROGRAM is missing')"
for way in "--by=function" "--by=line --event=l1d-miss" "--by=object" "--by=thread" "--branches=tage" \
	"--by=instruction --classify" "--by=function --from=100 --count=300" "--by=object --quantum=64"; do
	# shellcheck disable=SC2086
	"$lode" trace simulate x.rps --cache "$caches" $way --format csv -o file.csv
	# shellcheck disable=SC2086
	simulate --cache "$caches" $way --format csv -o own.csv -- "$static"
	check "by place, what its trace gives ($way)" "$(status_is 0)" "$(wrote '')" "$(diff file.csv own.csv 2>&1)" \
		"$([ "$(wc -l <own.csv)" -gt 1 ] || echo 'it is empty')"
done
simulate --cache "$caches" --by function -- sh -c '/bin/echo one; /bin/true'
check "by place, of all processes" "$(status_is 0)" "$(wrote one)" "$(says '/bin/echo one')" "$(says _dl_relocate_object)"
simulate --by function --from 1000000000 -- "$static"
check "nothing by place" "$(status_is 1)" "$(says 'ended before reference')"
simulate -- ./missing
check "a missing program" "$(status_is 1)" "$(says missing)"
echo "1..$number"
