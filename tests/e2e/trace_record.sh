#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lode trace record on programs of all kinds of ends, read back by lode trace unpack. Prints TAP.
#
#   trace_record.sh LODE TRACED_PROGRAM TRACED_STATIC REWRITING_PROGRAM
set -euo pipefail
program=$(realpath "$2")
static=$(realpath "$3")
rewriting=$(realpath "$4")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

needs qemu-x86_64
begin "$1"

# trace ARGUMENT…: records into x.rps at the fast level and unpacks what came out as x.txt.
trace() {
	status=0
	rm -f x.rps x.txt
	# The shell says when a signal ended what it ran.
	{ PATH=${search:-$PATH} "$lode" trace record --level fast -o x.rps "$@" >out 2>err || status=$?; } 2>/dev/null
	"$lode" trace unpack x.rps --form lackey -o x.txt 2>>err || true
}

count() { grep -c "$1" x.txt || true; }
counts() { [ "$(count "$1")" -eq "$2" ] || echo "$(count "$1") of '$1', not $2"; }
says() { grep -q "$1" err || echo "does not say '$1'"; }
says_not() { ! grep -q "$1" err || echo "says '$1'"; }
wrote() { [ "$(cat out)" = "$1" ] || echo "it wrote: $(cat out)"; }
# see FILE: what is in a trace becomes ./facts, also where it is damaged
see() { "$lode" trace info "$1" >facts 2>&1 || true; }
# info TEXT: what `lode trace info` has a line like
info() {
	see x.rps
	grep -q "$1" facts || echo "no line like '$1' in: $(<facts)"
}
is_whole() { info 'state  *whole'; }
address() { nm "$static" | awk -v name="$1" '$3 == name { print $1 }'; }

# 1 + 6 × 100 + 3 + 11 (rep movsb, once more to see that it is over) + 6 in front of the calls, three
# times 3 + 15 for the calls, 3 at the end.
trace -- "$static"
check "a program without libraries: every instruction once" "$(status_is 0)" "$(is_whole)" \
	"$(counts '^I' $((1 + 600 + 3 + 11 + 6 + 3 * (3 + 15) + 3)))" \
	"$(counts "^ L $(address from | tail -c 9),16" 100)" "$(counts "^ S $(address to | tail -c 9),16" 100)" \
	"$(counts "^ M $(address total | tail -c 9),4" 100)" "$(counts "^ M $(address to | tail -c 9),16" 1)" \
	"$(counts ',10$' 2)"
cp x.txt whole.txt

if command -v valgrind >/dev/null; then
	trace --with lackey -- "$static"
	# The stack is elsewhere.
	fault=""
	diff <(sed -E 's/ (1ff|400)[0-9a-f]{7},/ STACK,/' whole.txt) \
		<(sed -E 's/ (1ff|400)[0-9a-f]{7},/ STACK,/' x.txt) >difference || fault=$(head -20 difference)
	check "lackey gives the same references" "$(status_is 0)" "$(is_whole)" "$fault" \
		"$(info "$static .* r-x")"
	trace --with lackey -- /bin/true
	check "lackey on a program with libraries" "$(status_is 0)" "$(is_whole)" \
		"$(info '/bin/true .* r-x')" "$(info '/ld-.* r-x')" \
		"$([ "$(count '^I')" -gt 10000 ] || echo 'too few instructions')"
	mkdir bin
	printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v valgrind)" >bin/valgrind
	chmod +x bin/valgrind
	search=$work/bin trace -- "$static"
	check "without qemu lackey is taken" "$(status_is 0)" "$(says 'qemu-x86_64 is not installed')" \
		"$(counts '^I' 678)"
fi

trace -n 50 -- "$static"
check "so many instructions" "$(status_is 0)" "$(counts '^I' 50)" "$(says 'went on untraced')" \
	"$(cmp <(head -n "$(wc -l <x.txt)" whole.txt) x.txt 2>&1)"
trace --skip 30 -n 50 -- "$static"
first=$(grep -n '^I' whole.txt | sed -n '31s/:.*//p')
check "so many behind others" "$(counts '^I' 50)" \
	"$(says_not 'is empty')" "$(cmp <(tail -n "+$first" whole.txt | head -n "$(wc -l <x.txt)") x.txt 2>&1)"
trace --skip 100000 -- "$static"
check "all left out" "$(status_is 0)" "$(is_whole)" "$(counts '^I' 0)" \
	"$(says 'is empty: the program ended after 678 of the 100000 instructions to skip')"
trace -n 100000 -- "$static"
check "fewer than so many" "$(counts '^I' 678)" "$(says_not 'went on untraced')"

# A program of which a part is traced goes on unharmed, wherever that ends.
seq 1 4000 | sort -R --random-source=/dev/zero >numbers
sort numbers >sorted
fault=""
for n in 200000 500000 800000; do
	trace --instructions $n -- sort --parallel=1 numbers
	cmp -s out sorted && [ $status = 0 ] || fault="status $status after $n instructions"
done
check "the rest of a program runs as ever" "$fault" "$(says 'went on untraced')"

trace --function outer -- "$static"
check "a function that is left by a jump, with what it calls" "$(status_is 0)" "$(counts '^I' $((3 * 15)))"
trace --function inner -- "$static"
check "a function that calls itself" "$(status_is 0)" "$(counts '^I' $((3 * 13)))"
trace --function nowhere -- "$static"
check "a function that is not there" "$(status_is 1)" "$(says "has a function 'nowhere'")" \
	"$([ ! -e x.rps ] || echo 'there is a file')"

trace -- "$program" threads
# Of each cell the first reference is the store, and each of four threads loads it later.
fault=$(perl -ne '
	BEGIN { $from = hex shift }
	next unless /^ ([LSM]) ([0-9a-f]+)/;
	$cell = hex($2) - $from;
	next if $cell < 0 || $cell >= 4096;
	if ($1 eq "S") { $stored{$cell} = 1; $stores++ } else { $loads++; $early++ unless $stored{$cell} }
	END { print "$stores stores, $loads loads, $early early" if $stores != 1024 || $loads != 4096 || $early }
	' "$(cat out)" x.txt)
check "threads: what one hands over is loaded behind its store" "$(status_is 3)" "$(is_whole)" "$fault" \
	"$(info 'threads  *5$')" \
	"$([ "$(grep -c cell-reader facts)" -eq 4 ] || echo 'names are missing')"

trace -- "$program" fault
check "a fault" "$(status_is 139)" "$(is_whole)" "$([ "$(tail -c 3 x.txt)" != '' ] || echo empty)" \
	"$(tail -n 1 x.txt | grep -q '^I' || echo 'the instruction at fault is not the last')"
trace -- "$program" divide
check "a division by nothing, which has read it" "$(status_is 136)" "$(is_whole)" \
	"$(tail -n 2 x.txt | grep -A 1 '^I.*,2$' | tail -n 1 | grep -q '^ L .*,4$' || echo "its end: $(tail -n 3 x.txt)")"
trace -- "$program" kill
check "SIGKILL" "$(status_is 137)" "$(is_whole)" "$([ "$(count '^I')" -gt 50000 ] || echo 'too few instructions')"
trace --no-follow -- "$program" fork
check "a process that it makes is not traced" "$(status_is 5)" "$(says ' 1 process that the program made is not traced')" \
	"$([ "$(count '^I')" -lt 200000 ] || echo 'as many instructions as of both')"
trace --no-follow -- "$program" exec
check "a program that takes its place is not traced" "$(status_is 0)" "$(wrote 'another program')" \
	"$(says "replaced by '/bin/echo'")" "$(is_whole)"
trace -- "$program" no-exec
check "a program that does not take its place" "$(status_is 6)" \
	"$(says_not replaced)"
trace -- "$program" signals
check "signal handlers" "$(status_is 7)" "$(is_whole)"

trace -- "$rewriting"
page=$(cut -c 3- out)
at() { printf '%08x' $((16#$page + $1)); }
faults=()
for offset in 5 11 17 24 25 26 28; do faults+=("$(counts "^I  *$(at $offset)," 100)"); done
check "code that stores into its own page: every instruction once" "$(status_is 0)" "${faults[@]}" \
	"$(counts "^ S $(at 43),4" 100)" "$(counts "^ M $(at 43),4" 200)"

# shellcheck disable=SC2016
printf '#!/bin/sh -e\nread -r x\necho "$1 $x"\nexit 8\n' >script
chmod +x script
echo input >input
trace -- ./script argument <input
check "a script, with its input" "$(status_is 8)" "$(wrote 'argument input')" "$(is_whole)"
# shellcheck disable=SC2016
echo 'echo "$0 $1"' >script
trace -- ./script argument
check "a script that names no interpreter is not traced as the shell" "$(status_is 1)" "$(wrote '')" \
	"$(says 'neither an ELF program nor a script that names its interpreter')"
trace -- ls /proc/self/fd
"$lode" trace record -o y.rps -- true 2>/dev/null
ls /proc/self/fd >expected
check "the program has no descriptors of ours" "$(cmp out expected 2>&1)"

# wait_for FILE: until something stands in it
wait_for() {
	for _ in $(seq 600); do
		[ -s "$1" ] && return
		sleep 0.1
	done
}

rm -f x.rps out
env --default-signal=INT "$lode" trace record --level fast -o x.rps -- "$program" interrupt >out 2>err &
wait_for out
kill -INT $!
status=0
wait $! || status=$?
"$lode" trace unpack x.rps --form lackey -o x.txt
check "SIGINT is the program's" "$(status_is 9)" "$(is_whole)"
rm -f x.rps out
env --default-signal=INT "$lode" trace record --level fast -o x.rps -- "$program" long 90 >out 2>err &
wait_for out
kill -INT $!
status=0
wait $! 2>/dev/null || status=$?
check "SIGINT that ends the program leaves the trace" "$(status_is 130)" "$(is_whole)"

# What lode leaves when it is killed itself, under its temporary name.
rm -f y.rps out
"$lode" trace record --level fast -o y.rps -- "$program" long 34 >out 2>err &
for _ in $(seq 600); do
	see .y.rps.*.tmp
	! grep -q 'frames  *[1-9]' facts || break
	sleep 0.1
done
kill -KILL $!
{ wait $! || true; } 2>/dev/null
for _ in $(seq 3000); do
	[ "$(wc -l <out)" -lt 2 ] || break
	sleep 0.1
done
check "the program outlives lode" "$(wrote $'begun\n5702887')" \
	"$([ ! -e y.rps ] || echo 'there is a whole trace')"
mv .y.rps.*.tmp x.rps
check "a killed lode leaves a trace that names its program" "$(info 'state  *damaged')" \
	"$(info 'damage.*no footer; read up to frame')" "$(info 'recorded  *in part')" \
	"$(info "program  *$program long 34")" "$(info "$program .* r-x")" "$(info '/libc.* r-x')"

echo "1..$number"
