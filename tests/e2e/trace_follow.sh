#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lode trace record follows what a program executes and the processes that it makes: each has a
# trace, and output, error and status are those of the program alone. Prints TAP.
#
#   trace_follow.sh LODE FOLLOWED_PROGRAM
set -euo pipefail
program=$(realpath "$2")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

needs qemu-x86_64
begin "$1"

# native COMMAND…: what it writes and its status, without us
native() {
	native_status=0
	{ "$@" >native.out 2>native.err || native_status=$?; } 2>/dev/null
}

# trace OPTION… -- COMMAND…: into x.rps, x.2.rps …; its standard error without our lines is own.err
trace() {
	status=0
	rm -f x.rps x.*.rps
	{ "$lode" trace record --level fast -o x.rps "$@" >out 2>err || status=$?; } 2>/dev/null
	grep -v '^lode trace record: ' err >own.err || true
	files=$(find . -maxdepth 1 -name 'x*.rps' | wc -l)
	: >programs
	n=0
	for file in x.rps x.*.rps; do
		if [ -e "$file" ] && [ $n -lt 20 ]; then
			"$lode" trace info "$file" >>programs 2>&1 || true
			n=$((n + 1))
		fi
	done
}

# as_natively COMMAND…: traces it, and says what is different from running it
as_natively() {
	native "$@"
	trace -- "$@"
	same
}
same() {
	cmp out native.out 2>&1 || true
	cmp own.err native.err 2>&1 || true
	[ "$status" -eq "$native_status" ] || echo "status $status, natively $native_status"
	[ "$(grep -c 'state  *whole' programs)" -eq "$n" ] || echo "a trace is not whole: $(<programs)"
}
traced() { grep -Eq "^ *program  *$1\$" programs || echo "no trace of '$1': $(grep '^ *program ' programs)"; }
not_traced() { ! grep -Eq "^ *program  *$1\$" programs || echo "a trace of '$1'"; }
says() { grep -q "$1" err || echo "does not say '$1'"; }
says_not() { ! grep -q "$1" err || echo "says '$1'"; }

# shellcheck disable=SC2016
as_natively sh -c 'echo "one $0"; /bin/echo two | /bin/cat; exit 3' >fault
check "a shell with a pipe" "$(<fault)" "$(traced '/usr/bin/sh -c .*')" "$(traced '/bin/echo two')" "$(traced '/bin/cat')" \
	"$(says_not 'not traced')"
as_natively sh -c 'exec /bin/echo x' >fault
check "a program in the place of another one" "$(<fault)" "$(traced '/bin/echo x')" \
	"$([ "$files" -eq 2 ] || echo "$files files")"

mkdir 'a folder'
# shellcheck disable=SC2016
printf '#!/usr/bin/env  sh\necho "$0 $#: $*"; exec ./inner "$@" x\n' >'a folder/outer'
# shellcheck disable=SC2016
printf '#!/bin/sh -e\necho "$0: $*"; false; echo no\n' >'a folder/inner'
chmod +x 'a folder/outer' 'a folder/inner'
as_natively sh -c 'cd "a folder" && ./outer 1 "2 3"' >fault
check "scripts, by relative paths after cd" "$(<fault)" "$(traced '/usr/bin/env .*')" "$(traced '/bin/sh -e ./inner 1 2 3 x')"
as_natively 'a folder/../a folder/inner' 5 >fault
check "a script at the start" "$(<fault)"

as_natively "$program" fork >fault
check "a process without a program of its own" "$(<fault)" "$([ "$files" -eq 2 ] || echo "$files files")" \
	"$([ "$(grep -c "program  *$program fork" programs)" -eq 2 ] || echo 'not two of one name')"
as_natively "$program" kill-child >fault
check "a process that is killed leaves its part, and the rest" "$(<fault)" "$([ "$files" -eq 2 ] || echo "$files files")"
as_natively "$program" many 60 >fault
check "many processes, one after the other" "$(<fault)" "$([ "$files" -eq 61 ] || echo "$files files")"
echo notes >x.5.rps
cp x.rps x.4.rps
"$lode" trace record --level fast -o x.rps -- "$program" fork >out 2>err
check "what a recording of the same name left is gone" "$([ ! -e x.4.rps ] || echo 'a trace is there')" \
	"$([ "$(<x.5.rps)" = notes ] || echo 'a different file is gone')"
as_natively "$program" close-all /bin/echo x >fault
check "all descriptors are closed" "$(<fault)" "$(traced '/bin/echo x')"
as_natively "$program" threads-exec /bin/echo x >fault
check "one of several threads executes a program" "$(<fault)" "$(traced '/bin/echo x')"
as_natively "$program" signals "$program" show-signals >fault
check "blocked, ignored and pending signals, and descriptors, of the new program" "$(<fault)" \
	"$(traced ".* show-signals")"
as_natively "$program" self >fault
check "a program that executes itself by /proc/self/exe" "$(<fault)" "$(traced "$program show 1 2")"
as_natively "$program" descriptor >fault
check "a program that is executed by its descriptor" "$(<fault)"
as_natively "$program" spawn /bin/echo x >fault
check "posix_spawn" "$(<fault)" "$(traced '/bin/echo x')"
LD_BIND_NOW=1 A=2 B=3 as_natively env -u OLDPWD -u _ env >fault
sort out >sorted && sort native.out >native.sorted
check "the environment" "$(diff sorted native.sorted 2>&1)"
as_natively env -i C=1 B=2 A=3 /usr/bin/env >fault
check "its order" "$(<fault)"

echo 'echo text' >text
cp "/bin/true" not-executable
cp text executable-text
head -c 100 "/bin/true" >broken
printf '#!/no/such/interpreter\n' >no-interpreter
printf '\177ELF\1\1\1aaaaaaaaa\2\0\3\0' >elf32
chmod -x not-executable
chmod +x executable-text broken no-interpreter elf32
for what in ./missing ./not-executable . ./broken ./no-interpreter ./elf32 ./executable-text/x; do
	as_natively "$program" exec "$what" >fault
	check "execve($what) fails as it does natively" "$(<fault)" "$([ "$files" -eq 1 ] || echo "$files files")" \
		"$(says_not 'not traced')"
done
as_natively sh -c './executable-text; ./missing; ./not-executable; echo $?' >fault
check "a shell that meets them" "$(<fault)"

cat >Makefile <<'END'
all: a b
	@cat a b
a b:
	@echo $@ | tr a-z A-Z >$@
clean:
	@rm -f a b
END
if command -v make >/dev/null; then
	native make -j2 -s all
	rm -f a b
	trace -- make -j2 -s all
	same >fault
	check "make -j2" "$(<fault)" "$(traced '/usr/bin/make .*')" "$(traced '/usr/bin/tr a-z A-Z')"
fi
if command -v gcc >/dev/null; then
	# Of assembly: a compiler executes a hundred times as much.
	printf '.globl f\nf:\tmov %%edi, %%eax\n\tret\n' >f.s
	gcc -c f.s -o native.o
	trace --only ld --only 'as*' -- gcc -c f.s -o traced.o
	check "a compiler's driver, of which only the assembler is traced" "$(status_is 0)" \
		"$(cmp native.o traced.o 2>&1)" "$(traced '.*as .*f\.s.*')" "$(not_traced '/usr/bin/gcc .*')" \
		"$([ "$files" -eq 1 ] || echo "$files files")"
fi
trace --only '*/nothing' -- sh -c '/bin/true; exit 4'
check "a name that nothing has" "$(status_is 1)" "$(says "no program that was executed has a name like '\*/nothing'")" \
	"$([ "$files" -eq 0 ] || echo 'there is a file')"
trace --no-follow -- sh -c '/bin/true; exec /bin/echo x'
check "a program alone" "$(status_is 0)" "$([ "$files" -eq 1 ] || echo "$files files")" \
	"$(says '1 process that the program made is not traced')" "$(says "replaced by '/bin/echo'")"
trace --function inside -- "$program" function
check "a function, in the program, a copy of it, and what that executes" "$(status_is 0)" "$([ "$files" -eq 3 ] || echo "$files files")" \
	"$([ "$(grep -Ec '^ *fetch  *3 ' programs)" -eq 3 ] || echo "not three instructions each: $(<programs)")"

# All of them in one profile. The last program is in the process of the first.
trace -- sh -c "$program fork >/dev/null; exec $program function"
"$lode" import --simulate skylake-server x.rps x.*.rps -o x.lode >out 2>>err
"$lode" info --format json x.lode >info.json
"$lode" memory x.lode --by command --format csv >commands
"$lode" memory x.lode --by pid --format csv >pids
sum=0
for file in x.rps x.*.rps; do
	"$lode" trace info --format json "$file" >trace.json
	sum=$((sum + $(sed -n 's/.*"fetch":\([0-9]*\).*/\1/p' trace.json)))
done
check "one profile of all processes" "$([ "$files" -eq 7 ] || echo "$files files")" \
	"$(grep -q "\"executions\":$sum," info.json || echo "not $sum executions: $(head -c 600 info.json)")" \
	"$(grep -q ',value,sh,' commands || echo "no sh: $(<commands)")" \
	"$(grep -q ',value,followed_progra' commands || echo "no program: $(<commands)")" \
	"$([ "$(grep -c ',value,' pids)" -eq 4 ] || echo "not four processes: $(<pids)")"

# What still runs goes on, and its part is kept.
rm -f begun ended
# On a busy machine what was forked may not have run at all before the program ends.
trace -- sh -c '(echo >begun; for i in 1 2 3 4 5 6; do sleep 0.2; done; echo >ended) &
	while [ ! -e begun ]; do sleep 0.05; done'
for _ in $(seq 100); do
	[ ! -e ended ] || break
	sleep 0.1
done
check "a process that outlives the program" "$(status_is 0)" "$([ -e ended ] || echo 'it did not go on')" \
	"$(says 'still ran')"

echo "1..$number"
