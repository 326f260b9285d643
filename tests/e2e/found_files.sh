#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Recordings whose program lies elsewhere when they are imported, was built again, or has no
# build-id: the recorded file is found where it is said to lie, and no other is taken for it. Prints
# TAP.
#
#   tests/e2e/found_files.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs gcc sqlite3 tar bzip2 objcopy
needs_sampling
export HOME=$work/home
mkdir home bin

# program FILE NAME FLAG…: works in the functions NAME_one and NAME_two, and little else.
program() {
	local file=$1 name=$2
	shift 2
	cat >work.c <<C
#include <time.h>
__attribute__((noinline)) long ${name}_one(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i * 3;
	return s;
}
__attribute__((noinline)) long ${name}_two(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s ^= i * 5;
	return s;
}
int main(void)
{
	while (clock() < 0.3 * CLOCKS_PER_SEC) {
		${name}_one(1000000);
		${name}_two(1000000);
	}
	return 0;
}
C
	gcc -O1 -g "$@" work.c -o "$file" 2>err || skip "it does not compile"
}

record() {
	"$lode" record -o "$1" -e cpu-clock:u -F 1000 -- "$2" >/dev/null 2>err
}

# import FILE…: into x.lode.
import() {
	rm -f x.lode
	"$lode" import "$@" -o x.lode >out 2>err
	status=$?
}

# Of 100, the weight in functions whose name begins so.
share() {
	sqlite3 x.lode "select cast(round(100 * coalesce(sum(share), 0)) as int) from hot_function
		where name like '$1%'"
}
names() { [ "$(share "$1")" -ge 90 ] || echo "$(share "$1") % in functions of $1, not 90"; }
names_none() { [ "$(share "$1")" -eq 0 ] || echo "$(share "$1") % in functions of $1"; }
says() { grep -qe "$1" out err || echo "'$1' is not said: $(cat out)"; }
info_says() { "$lode" info x.lode | grep -e "$1" >/dev/null || echo "lode info does not say '$1'"; }
id_of() { readelf -n "$1" | awk '/Build ID/ { print $3 }'; }

program bin/work right
record id.data "$work/bin/work"
import id.data
check "a program at its path" "$(status_is 0)" "$(names right_)"

mkdir -p kept root"$work"/bin elsewhere/deep
cp bin/work kept/other_name
mv bin/work root"$work"/bin/
import id.data
check "a program that is gone is listed with its build-id" "$(status_is 0)" "$(names_none right_)" \
	"$(says 'files that were not found')" "$(says "$(id_of kept/other_name)")" \
	"$(info_says 'Files not found')" "$(says '--symfs')"

import id.data --symfs root
check "--symfs" "$(status_is 0)" "$(names right_)"
mkdir -p linked"$work" linked/elsewhere
ln -s /elsewhere linked"$work"/bin
cp kept/other_name linked/elsewhere/work
import id.data --symfs linked
check "--symfs with a link from its root on" "$(status_is 0)" "$(names right_)"
import id.data kept/other_name
check "a binary that is given, whatever its name" "$(status_is 0)" "$(names right_)"
cp kept/other_name elsewhere/deep/
import id.data elsewhere
check "a folder that is given" "$(status_is 0)" "$(names right_)"
rm elsewhere/deep/other_name

# As 'perf archive' makes it: the files of perf's cache of build-ids, with links to them.
id=$(id_of kept/other_name)
mkdir -p "cache/${work#/}/bin/work/$id" "cache/.build-id/${id:0:2}"
cp kept/other_name "cache/${work#/}/bin/work/$id/elf"
ln -s "../../${work#/}/bin/work/$id" "cache/.build-id/${id:0:2}/${id:2}"
tar -cjf id.data.tar.bz2 -C cache .
import id.data id.data.tar.bz2
check "an archive of perf archive" "$(status_is 0)" "$(names right_)"
head -c 2000 id.data.tar.bz2 >cut.tar.bz2
import id.data cut.tar.bz2
check "an archive that is cut short" "$(status_is 1)" "$(says '^lode import: cut.tar.bz2: ')" "$(holds [ ! -e x.lode ])"
mkdir -p hostile/d
cp kept/other_name hostile/d/elf
tar -cf hostile.tar -P --transform 's,^hostile/d/elf,../outside/elf,' hostile/d/elf
import id.data hostile.tar
check "names in an archive lead nowhere" "$(status_is 0)" "$(names right_)" "$(holds [ ! -e ../outside ])" "$(holds [ ! -e "${TMPDIR:-/tmp}/outside" ])"

mkdir home/.debug
cp -r cache/. home/.debug/
import id.data
check "perf's cache of build-ids" "$(status_is 0)" "$(names right_)"
rm -r home/.debug

# A server that is a folder; libdebuginfod reads file: addresses.
if [ -e /usr/lib/x86_64-linux-gnu/libdebuginfod.so.1 ]; then
	export DEBUGINFOD_URLS=file://$work/server DEBUGINFOD_CACHE_PATH=$work/fetched
	mkdir -p "server/buildid/$id"
	cp kept/other_name "server/buildid/$id/executable"
	import id.data
	check "servers are not asked by themselves" "$(status_is 0)" "$(names_none right_)"
	import id.data --debuginfod
	check "a binary from a server" "$(status_is 0)" "$(names right_)"
	rm -rf fetched
	cp /bin/true "server/buildid/$id/executable"
	import id.data --debuginfod
	check "another binary from a server" "$(status_is 0)" "$(info_says 'Files not found')"
	unset DEBUGINFOD_URLS
fi

# Symbols in a file of their own, beside the stripped program.
objcopy --only-keep-debug kept/other_name elsewhere/deep/symbols
strip -o elsewhere/stripped kept/other_name
import id.data elsewhere/stripped
check "a stripped program alone" "$(status_is 0)" "$(names_none right_)"
import id.data elsewhere
check "a stripped program and its debug file in a folder" "$(status_is 0)" "$(names right_)"

program bin/work wrong
import id.data
check "another build at the path" "$(status_is 0)" "$(names_none wrong_)" "$(names_none right_)" \
	"$(info_says 'not the file that was recorded')"
import id.data bin
check "another build that is given" "$(status_is 0)" "$(names_none wrong_)"
program bin/work wrong -Wl,--build-id=none
import id.data
check "a build without build-id at the path" "$(status_is 0)" "$(names_none wrong_)"
import id.data --symfs / bin/work
check "a build without build-id that is given" "$(status_is 0)" "$(names_none wrong_)"

# Two builds at one path, in two recordings: each has its own half.
mkdir second
record second.data "$work/bin/work"
mv bin/work second/
import id.data second.data kept second
check "two builds of one path" "$(status_is 0)" \
	"$(holds [ "$(share right_)" -gt 25 ] && holds [ "$(share wrong_)" -gt 25 ])" \
	"$(holds [ "$(sqlite3 x.lode "select count(*) from image where path = '$work/bin/work'")" -eq 2 ])"

# Without a build-id, device, inode and time decide.
program bin/none right -Wl,--build-id=none
record none.data "$work/bin/none"
import none.data
check "no build-id, the same file" "$(status_is 0)" "$(names right_)" "$(info_says 'Unresolved')"
mv bin/none kept/none
program bin/none wrong -Wl,--build-id=none
import none.data
check "no build-id, another file" "$(status_is 0)" "$(names_none wrong_)" "$(info_says 'inode')"
program fresh wrong
cp fresh bin/none
import none.data
check "no build-id, a file with one" "$(status_is 0)" "$(names_none wrong_)"
rm bin/none
mv kept/none bin/none
sleep 0.01
program fresh wrong -Wl,--build-id=none
cat fresh >bin/none
import none.data
check "no build-id, written over" "$(status_is 0)" "$(names_none wrong_)" "$(info_says 'changed after')"
import none.data fresh
check "no build-id, another one that is given" "$(status_is 0)" "$(names_none wrong_)"
mkdir with_id
program with_id/none wrong
import none.data with_id
check "no build-id, one with an id that is given" "$(status_is 0)" "$(names_none wrong_)"
program kept/none right -Wl,--build-id=none
import none.data kept/none
check "no build-id, given by name" "$(status_is 0)" "$(names right_)" "$(info_says 'taken by its name')"

import "$work/bin"
check "binaries without a recording" "$(status_is 2)" "$(says 'not a recording')"
import id.data --symfs /nonexistent
check "--symfs of nothing" "$(status_is 1)" "$(says '/nonexistent')"
printf '0 10 f\n' >perf-4194304.map
import id.data kept --jit perf-4194304.map
check "--jit of no recorded process" "$(status_is 1)" "$(says 'process 4194304')"

# What lies behind the samples, such as the build-ids, is lost where a disk was full.
program bin/short right
record short.data "$work/bin/short"
python3 - short.data <<'PY'
import os, struct, sys
with open(sys.argv[1], "rb") as file:
    offset, size = struct.unpack("<QQ", file.read(56)[40:])
os.truncate(sys.argv[1], offset + size)
PY
import short.data
check "a recording without what follows its samples" "$(status_is 0)" "$(says 'not everything is certain\|files that were not found')" \
	"$(info_says 'missing or damaged')"

# A FIFO in place of what lode looks for by itself: nobody writes into it.
program bin/apart apart -gsplit-dwarf
mv bin/apart-work.dwo apart.dwo
record apart.data "$work/bin/apart"
faults=()
for fifo in bin/apart-work.dwo bin/apart.dwp; do
	mkfifo "$fifo"
	rm -f x.lode
	status=0
	timeout -s KILL 60 "$lode" import apart.data -o x.lode >out 2>err || status=$?
	faults+=("$(status_is 0)" "$(names apart_)")
	rm "$fifo"
done
check "a FIFO in place of split debug information is not waited for" "${faults[@]}"

# A program that is built again while perf records: one that lies there has its part.
if command -v perf >/dev/null && perf record -q -e cpu-clock:u -o perf.data true >/dev/null 2>&1; then
	mkdir again
	for name in first second third; do program "again/$name" $name; done
	cat >again.sh <<'SH'
for name in first second third; do
	cp again/$name again/p && again/p && mv again/p again/p.$name
done
mv again/p.third again/p
SH
	perf record -q -e cpu-clock:u -F 1000 -o perf.data bash again.sh >/dev/null 2>err
	import perf.data
	check "the last of several builds" "$(status_is 0)" "$(names_none first_)" "$(names_none second_)" \
		"$(holds [ "$(share third_)" -gt 20 ] && holds [ "$(share third_)" -lt 45 ])" "$(info_says 'inode')"
fi

echo "1..$number"
