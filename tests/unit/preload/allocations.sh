#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the preloaded library writes down of programs with known allocations, and that no program
# does anything else with it than without. Prints TAP; what needs a compiler or a program that is
# not there is skipped. With LODE_LONG_TESTS in the environment, ways through calls of two more builds.
#
#   tests/unit/preload/allocations.sh LIBRARY DUMP PLACEMENT
#       DUMP: dump_allocations.c   PLACEMENT: the library of tools/preload/placement
# shellcheck disable=SC2016  # what other languages call a variable
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/../../e2e/cases.sh"

library=$(realpath "$1")
dump=$(realpath "$2")
placement=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8 HOME=$work
unset LD_PRELOAD LODE_ALLOCATIONS
touch err

# Runs a command with the library; its logs are in ./logs then.
with_library() {
	rm -rf logs
	mkdir logs
	LODE_ALLOCATIONS=$work/logs LD_PRELOAD=$library${behind:+:$behind} "$@"
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# A figure of logs, added up: figure NAME LOG…
figure() {
	local name=$1
	shift
	"$dump" figures "$@" | tr ' ' '\n' | sed -n "s/^$name=//p" | awk '{ sum += $1 } END { print sum + 0 }'
}
total() { figure "$1" logs/*.log; }
is_equal() { [ "$1" = "$2" ] || echo "$3: '$1', not '$2'"; }
is_at_least() { [ "$1" -ge "$2" ] || echo "$3: $1, at least $2 expected"; }

# Every log can be read, and all of it was recorded.
logs_are_whole() {
	"$dump" figures logs/*.log >figures.txt 2>&1 || echo "dump_allocations: $(tail -n 1 figures.txt)"
	grep -v ' unseen=0 dropped=0 .* truncated=0 ' figures.txt
}

# --- known allocations ---

# known NAME SOURCE FILTER COMPILER OPTION…: the filter takes what the program itself asked for, not
# the C library for it (the calloc of pthread_create).
known() {
	local name=$1 source=$2 filter=$3
	shift 3
	if ! command -v "$1" >/dev/null; then
		skip "$name" "there is no $1"
		return
	fi
	if ! "$@" -g -no-pie -D_GNU_SOURCE -o known "$here/$source" -pthread 2>err; then
		check "$name" "does not compile"
		return
	fi
	with_library ./known >out 2>err
	status=$?
	"$dump" sites logs/allocations-*.log known 2>err | grep -E "$filter" >found
	check "$name" "$(status_is 0)" "$(diff "$here/${source%.*}.expected" found)" \
		"$(logs_are_whole)"
}

own='^(malloc|realloc|aligned|mmap|calloc 63) '
known "C, gcc -O0" known.c "$own" gcc -O0
known "C, gcc -O2" known.c "$own" gcc -O2
known "C, gcc -O2 -fomit-frame-pointer -fcf-protection" known.c "$own" \
	gcc -O2 -fomit-frame-pointer -fcf-protection
known "C, clang -O0" known.c "$own" clang -O0
known "C, clang -O2" known.c "$own" clang -O2
# Whether the calls that the log has of each block are those that its size says.
ways() {
	local name="ways through the same addresses, $*"
	if ! command -v "$1" >/dev/null; then
		skip "$name" "there is no $1"
		return
	fi
	"$@" -g -no-pie -o ways "$here/ways.c" -pthread
	with_library ./ways >out 2>err
	status=$?
	"$dump" paths logs/allocations-*.log ./ways 2>err >paths.txt
	check "$name" "$(status_is 0)" "$(logs_are_whole)" "$(awk '
		FNR == NR { if (/= next\(way, depth\)/) digit[FNR] = n_digits++; next }
		$1 >= 1024 && $1 < 2048 {
			way = 1
			for (i = NF; i > 1; i--)
				if ($i in digit)
					way = way * 4 + digit[$i]
			n++
			wrong += way != $1
		}
		END { if (n != 60000 || wrong > 0) print wrong + 0, "of", n + 0, "ways are wrong" }
	' "$here/ways.c" paths.txt)"
}
# With frame pointers and without.
ways gcc -O0
ways clang -O2
if [ -n "${LODE_LONG_TESTS:-}" ]; then
	ways gcc -O2
	ways gcc -O2 -fno-omit-frame-pointer
fi
known "C++, g++ -O0" known_cpp.cpp '^new .*known_cpp.cpp:(3[1-4]|47) ' g++ -O0
known "C++, g++ -O2" known_cpp.cpp '^new .*known_cpp.cpp:(3[1-4]|47) ' g++ -O2

# --- the same with and without ---

# same NAME COMMAND…: output, errors and status; what it writes into ./made as well.
same() {
	local name=$1 part
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "there is no $1"
		return
	fi
	rm -rf made.* && mkdir made.without made.with
	(cd made.without && exec "$@") >out.without 2>err.without </dev/null
	echo $? >status.without
	with_library env -C made.with "$@" >out.with 2>err.with </dev/null
	echo $? >status.with
	cp err.with err
	local faults=()
	for part in out err status made; do
		diff -r $part.without $part.with >difference 2>&1 ||
			faults+=("$part differs: $(head -n 3 difference | tr '\n' ' ')")
	done
	is_read=$(logs_are_whole)
	check "$name" "${faults[@]}" "$is_read" "$(is_at_least "$(total allocations)" 1 allocations)"
}

cc -O1 -g -D_GNU_SOURCE -o conduct "$here/conduct.c" -pthread
another=$(ldconfig -p | sed -n 's/.*libz\.so\.1 .*x86-64.*=> //p' | head -n 1)
same "what programs do to their surroundings" setarch -R "$work/conduct" "$another"
check "nothing was wrong there" "$(grep WRONG out.with)" \
	"$(is_at_least "$(total threads)" 600 threads)"
check "children have logs of their own" \
	"$(is_at_least "$(find logs -name '*.log' | wc -l)" 3 logs)"

same python3 /usr/bin/python3 -I -c '
import json, threading, subprocess, os
def work(n): return sum(len(json.dumps(list(range(i)))) for i in range(n))
threads = [threading.Thread(target=work, args=(300,)) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(work(400), subprocess.run(["echo", "x"], capture_output=True).stdout, len(os.listdir("/proc/self/fd")))'
same perl perl -e 'my %h; $h{$_ % 977} .= "x$_" for 1..200000; print length(join ",", map { "$_=$h{$_}" } sort keys %h), "\n"; print `echo from a child`'
same sqlite3 sqlite3 :memory: '
create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i < 50000)
insert into t select i, hex(i * 7919) from n;
create index x on t(b); select count(*), min(b), max(b), sum(a) from t where b like "3%";'
same "git" sh -c '
export GIT_AUTHOR_DATE="1 +0" GIT_COMMITTER_DATE="1 +0" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
git init -q . && for i in 1 2 3 4 5; do seq $i 20000 >file; git add file; git commit -qm "$i"; done
git log --stat; git repack -qad; git fsck --no-progress; rm -rf .git'
same "gcc compiling" gcc -O2 -c -o conduct.o -D_GNU_SOURCE -Wno-all "$here/conduct.c"
same "a shell script of many processes" bash -c '
for i in $(seq 1 60); do echo "$i" | sed s/1/one/ | tr a-z A-Z; (exit 3) || x=$(echo "$?$i"); done; echo $x
cat /proc/self/comm; wait'
same "sort in threads" bash -c 'seq 200000 | sort -R --random-source=<(yes) --parallel=4 -S 1M | md5sum'

# --- addresses ---
differ() { diff "$1" "$2" | head -n 6 | tr '\n' '|'; }

# Where the dynamic linker's own memory ends hangs on the number of libraries and the lengths of
# their names and of where it searches.
mkdir lib && cp "$library" "$placement" lib/
library_there=$library library=$work/lib/$(basename "$library")
placement=$work/lib/$(basename "$placement")
unset LD_LIBRARY_PATH

cc -O1 -g -D_GNU_SOURCE -o addresses "$here/addresses.c" -pthread
setarch -R ./addresses >out.plain
with_library setarch -R ./addresses >out 2>err
status=$?
check "addresses are those of a run without it" "$(status_is 0)" \
	"$(is_at_least "$(grep -c '^thread .*tls 0x7f' out)" 4 threads)" "$(differ out.plain out)"
LD_PRELOAD=$placement setarch -R ./addresses >out 2>err
status=$?
check "and of one with the library of placements" "$(status_is 0)" "$(differ out.plain out)"
behind=$placement with_library setarch -R ./addresses >out 2>err
status=$?
check "and with both" "$(status_is 0)" "$(differ out.plain out)"

with_library setarch -R bash -c 'cat /proc/$$/maps; true' >maps.with 2>err
LD_PRELOAD=$placement setarch -R bash -c 'cat /proc/$$/maps; true' >maps.placed 2>err
far='^2[0-9a-f]*-|^3[0-9a-f]*-|\[stack\]'
check "a real program's, when it is recorded and when it is placed" \
	"$(is_at_least "$(grep -cvE "$far" maps.with)" 10 mappings)" \
	"$(differ <(grep -vE "$far" maps.with) <(grep -vE "$far" maps.placed))"

# Where thread-local variables lie, as the log says it.
with_library setarch -R ./addresses >out 2>err
sed -n 's/^thread [0-9]*: tls \(0x[0-9a-f]*\) .*/\1/p' out | while read -r address; do
	"$dump" threads logs/*.log | awk '{ print $2 }' | while read -r pointer; do
		((pointer > address && pointer - address < 4096)) && echo found
	done
done >pointers
check "the log knows the pointers of threads" "$(is_equal "$(wc -l <pointers)" 4 threads)"

library=$library_there

cc -O1 -o own_malloc "$here/own_malloc.c" 2>/dev/null
same "a malloc of its own" "$work/own_malloc"
check "it is told" "$(is_equal "$(total own_malloc)" 1 "logs with own_malloc")"

cat >address_taken.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *call(void *(*function)(size_t)) { return function(10); }
int main(void) { return call(malloc) == NULL; }
END
if cc -O1 -no-pie -fno-pie -o address_taken address_taken.c 2>err; then
	with_library ./address_taken >out 2>err
	status=$?
	check "the address of malloc, taken at a fixed place, is not a malloc of its own" "$(status_is 0)" \
		"$(is_equal "$(total own_malloc)" 0 "logs with own_malloc")" \
		"$(is_at_least "$(total allocations)" 1 allocations)"
fi

# Its malloc ends the process that asks for 4711 bytes, while lode's library waits for it.
cat >deadly.c <<'END'
#include <unistd.h>
void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
	if (size == 4711)
		_exit(3);
	return __libc_malloc(size);
}
END
cat >borrower.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	struct rlimit limit = {0, 0};
	void *volatile block;
	int status = 0;
	for (int i = 0; i < 100; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			block = malloc(4711);
			_exit(4);
		}
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
			puts("WRONG child");
		block = malloc(77);
	}
	setuid(1234);
	setrlimit(RLIMIT_NPROC, &limit);
	errno = 0;
	if (vfork() == -1 && errno != EAGAIN)
		puts("WRONG errno");
	return 0;
}
END
if cc -O1 -fno-builtin -shared -fPIC -o deadly.so deadly.c 2>err && cc -O1 -o borrower borrower.c 2>>err; then
	behind=$work/deadly.so with_library ./borrower >out 2>err
	status=$?
	check "a child that uses our memory and ends inside malloc" "$(status_is 0)" \
		"$(grep WRONG out)" "$(logs_are_whole)" \
		"$(is_at_least "$(total allocations)" 100 allocations)"
fi

jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*x86-64.*=> //p' | head -n 1)
if [ -n "$jemalloc" ]; then
	behind=$jemalloc
	same "jemalloc behind it" perl -e 'my %h; $h{$_ % 977} .= "x$_" for 1..100000; print length(join ",", %h), "\n"'
	gcc -O2 -g -no-pie -D_GNU_SOURCE -o known "$here/known.c" -pthread 2>err
	behind=$jemalloc with_library ./known >out 2>err
	status=$?
	behind=
	"$dump" sites logs/allocations-*.log known | grep -E "$own" >found
	check "jemalloc is followed" "$(status_is 0)" "$(diff "$here/known.expected" found)"
else
	skip "jemalloc behind it" "there is no libjemalloc.so.2"
fi

# --- bad surroundings ---

with_library bash -c 'exec perl -e '\''@a = map { "x$_" } 1..100000; kill 9, $$'\''' >out 2>err
status=$?
check "killed: the log is whole up to there" "$(status_is 137)" \
	"$(is_at_least "$(total allocations)" 100000 allocations)"

cat >many.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	void *volatile block;
	for (int i = 0; i < 100000; i++) {
		block = malloc(64);
		free(block);
	}
	return puts("ended") < 0;
}
END
cc -O1 -o many many.c
# with_limit NAME ULIMIT…
with_limit() {
	local name=$1
	shift
	rm -rf logs && mkdir logs
	(ulimit "$@" && LODE_ALLOCATIONS=$work/logs LD_PRELOAD=$library exec ./many) >out 2>err
	status=$?
	check "$name" "$(status_is 0)" "$(is_equal "$(cat out)" ended output)"
}
with_limit "a limit on the size of files" -f 64
check "records that found no room are counted" \
	"$(is_at_least "$(total dropped)" 1000 dropped)" "$(is_at_least "$(total allocations)" 1000 allocations)"
with_limit "a limit on address space" -v 200000
with_limit "a limit on descriptors" -n 4
with_limit "a small stack" -s 64

if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=256k,mode=700 none full 2>/dev/null; then
	LODE_ALLOCATIONS=$work/full LD_PRELOAD=$library ./many >out 2>err
	status=$?
	check "a full disk" "$(status_is 0)" "$(is_equal "$(cat out)" ended output)" \
		"$(is_at_least "$(figure allocations full/*.log)" 1000 allocations)" \
		"$(is_at_least "$(figure dropped full/*.log)" 1000 dropped)"
	umount full
else
	skip "a full disk" "no file system can be mounted"
fi

LODE_ALLOCATIONS=/nonexistent LD_PRELOAD=$library ./many >out 2>err
status=$?
check "a directory that is not there" "$(status_is 0)" "$(is_equal "$(cat out)" ended output)"
LD_PRELOAD=$library ./many >out 2>err
status=$?
check "no directory" "$(status_is 0)" "$(is_equal "$(cat out)" ended output)"

if cc -O1 -static -o still many.c 2>/dev/null; then
	with_library ./still >out 2>err
	status=$?
	check "a static program has no log" "$(status_is 0)" "$(is_equal "$(cat out)" ended output)" \
		"$(is_equal "$(find logs -type f | wc -l)" 0 logs)"
fi

echo "1..$number"
