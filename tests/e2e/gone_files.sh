#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs whose files lie at no path of this mount namespace when the recording is imported: in a
# namespace or folder of their own, replaced, removed, without a path; and the kernel's vDSO. The
# processes have ended and their files are gone before each import. Prints TAP; skips what is not
# permitted.
#
#   tests/e2e/gone_files.sh LODE ATTACHED       ATTACHED: attached_program.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

attached=$(realpath "$2")
begin "$1"
needs gcc sqlite3
needs_sampling

# Works in two functions, for some seconds of processor time, or until it is ended.
cat >work.c <<'C'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) long first_work(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i * 3;
	return s;
}
__attribute__((noinline)) long second_work(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s ^= i * 5;
	return s;
}
#ifndef LIBRARY
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	while (seconds == 0 || clock() < seconds * CLOCKS_PER_SEC) {
		first_work(1000000);
		second_work(1000000);
	}
	return 0;
}
#endif
C
cat >from_memory.c <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	static char bytes[1 << 16];
	int from = open(argv[1], O_RDONLY), to = memfd_create("worker", 0);
	ssize_t n;
	(void)argc;
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return 1;
	return fexecve(to, argv + 1, environ);
}
C
cat >load.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	long (*first)(long) = (long (*)(long))dlsym(library, "first_work");
	long (*second)(long) = (long (*)(long))dlsym(library, "second_work");
	(void)argc;
	if (unlink(argv[1]) != 0)
		return 1;
	for (;;) {
		first(1000000);
		second(1000000);
	}
}
C
cat >clock.c <<'C'
#include <time.h>
int main(void)
{
	struct timespec t;
	long sum = 0;
	while (clock() < CLOCKS_PER_SEC)
		for (int i = 0; i < 100000; i++) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sum += t.tv_nsec;
		}
	return sum == 1;
}
C
{
	gcc -O1 -g work.c -o work && gcc -O1 -g -static work.c -o work_static && gcc -O1 from_memory.c -o from_memory &&
		gcc -O1 -g -shared -fPIC -DLIBRARY work.c -o work.so && gcc -O1 load.c -o load -ldl &&
		gcc -O1 clock.c -o clock
} 2>err || skip "it does not compile"
cat >until <<'SH'
#!/usr/bin/env bash
ticks() { awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null || echo 0; }
end=$(($(ticks "$1") + $(getconf CLK_TCK) / 2))
for ((i = 0; i < 600 && $(ticks "$1") < end; i++)); do sleep 0.05; done
SH
chmod +x until
mkdir own moved jail jail/bin

target=
trap '[ -z "$target" ] || kill -KILL "$target"; rm -rf "$work"' EXIT

# start NAME COMMAND…: in the background, and waits until it executes the program of that name.
start() {
	local name=$1
	shift
	"$@" >/dev/null 2>&1 &
	target=$!
	for ((i = 0; i < 200; i++)); do
		case $(readlink "/proc/$target/exe") in
		*/"$name"* | *:"$name"*) return ;;
		esac
		sleep 0.05
	done
}

end() {
	kill -KILL "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	target=
}

# record ARGUMENT…: into x.data.
record() {
	rm -f x.data x.lode
	"$lode" record -o x.data -e cpu-clock:u -F 1000 "$@" >/dev/null 2>err
	status=$?
}

# Attaches for so long as the process takes half a second of processor time, and ends it.
record_target() {
	record -p "$target" -- ./until "$target"
	end
}

# From another folder, as if it were another machine.
import() { (cd moved && "$lode" import ../x.data -o ../x.lode >/dev/null 2>>../err); }

share() {
	sqlite3 x.lode "SELECT cast(round(100 * coalesce(sum(share), 0)) AS int)
		FROM hot_function WHERE instr(name, '$1')" 2>>err
}
has_share() {
	local found
	found=$(share "$1")
	[ "${found:-0}" -ge "$2" ] || echo "$1 has $found %, not $2: $("$lode" info x.lode 2>&1 | grep -o 'such as.*')"
}
# Of what else the vDSO calls, such as the clock of a virtual machine, there may be no name.
has_vdso() {
	local found
	found=$(sqlite3 x.lode "SELECT cast(round(100 * coalesce(sum(share), 0)) AS int) FROM hot_function WHERE image = '[vdso]'" 2>>err)
	[ "${found:-0}" -ge 50 ] || echo "the vDSO has $found %, not 50"
	has_share clock_gettime 3
}
has_work() { has_share first_work 20 && has_share second_work 20; }
check_import() {
	import
	check "$1" "$(status_is 0)" "$(has_work)"
}

own_mounts="mount -t tmpfs none '$work/own' && cp '$work/work_static' '$work/own/inner'"
if unshare -m sh -c "$own_mounts" 2>/dev/null; then
	start inner unshare -m sh -c "$own_mounts && exec '$work/own/inner'"
	record_target
	check_import "a process in a mount namespace of its own"

	record -- unshare -m sh -c "$own_mounts && exec '$work/own/inner' 1"
	check_import "one that lode started"

	# Each process is short, and leads to its file only while it runs; the shell leads there too.
	record -- unshare -m sh -c "$own_mounts && cp '$(command -v sh)' '$work/own/shell' &&
		exec '$work/own/shell' -c \"for i in 1 2 3 4 5 6 7 8; do '$work/own/inner' 0.2; done\""
	check_import "short processes there"

	inside="mount -t tmpfs none '$work/own' && cp '$attached' '$work/own/counts'"
	start counts unshare -m sh -c "$inside && exec '$work/own/counts' memory"
	"$lode" memory record -p "$target" -F 2000 -o m.lode -- sleep 2 >/dev/null 2>err
	status=$?
	end
	"$lode" memory m.lode --by object --format csv >objects 2>>err
	check "the data of such a process" "$(status_is 0)" \
		"$(for table in first_table second_table; do grep -q $table objects || echo "no $table"; done)"
else
	echo "# mount namespaces are not permitted"
fi

cp work_static jail/bin/jailed
if chroot jail /bin/jailed 0.01 2>/dev/null; then
	record -- chroot jail /bin/jailed 1
	mv jail/bin/jailed jail/bin/elsewhere
	check_import "a process in a folder of its own"
	mv jail/bin/elsewhere jail/bin/jailed
	start jailed chroot jail /bin/jailed
	record -p "$target" -- ./until "$target"
	import
	end
	check "likewise one that is attached to" "$(status_is 0)" "$(has_work)"
else
	echo "# chroot is not permitted"
fi

cp work removed
start removed ./removed
rm removed
record_target
check_import "a program that was removed"

cp work replaced
start replaced ./replaced
cp clock new && mv new replaced
record_target
check_import "a program that was replaced"

# The file is removed by the program that lode records.
cp work temporary
record -- sh -c './temporary 1 & sleep 0.3; rm temporary; wait'
check_import "a program that is removed while it is recorded"

cp work temporary
"$lode" run -F 10000 -o x.lode -- sh -c './temporary 1 & sleep 0.3; rm temporary; wait' >/dev/null 2>err
status=$?
check "lode run: likewise" "$(status_is 0)" "$(has_work)"

start worker ./from_memory ./work_static
record_target
check_import "a program without a path"

# What lies in map_files may not be followed by everybody.
cp work.so gone.so
start load ./load ./gone.so
while [ -e gone.so ] && kill -0 "$target"; do sleep 0.05; done
range=$(awk '/gone\.so/ { print $1; exit }' "/proc/$target/maps")
if stat -L "/proc/$target/map_files/$range" >/dev/null 2>&1; then
	record_target
	check_import "a library that was removed"
else
	end
fi

case $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null) in
tsc | kvm-clock | hyperv_clocksource_tsc_page)
	record -- ./clock
	import
	check "the vDSO" "$(status_is 0)" "$(has_vdso)"
	if command -v perf >/dev/null && perf record -q -e cpu-clock:u -F 1000 -o x.data ./clock >/dev/null 2>&1; then
		import
		check "the vDSO in a recording of perf" "$(has_vdso)"
	fi
	;;
esac

cp work removed
start removed ./removed
rm removed
record_target
if command -v perf >/dev/null; then
	perf script -i x.data >listed 2>err
	status=$?
	check "perf passes over the copies" "$(status_is 0)" \
		"$([ "$(grep -c 'cpu-clock:u' listed)" -gt 20 ] || echo 'few samples')" \
		"$(! grep -i 'feature\|section' err || echo 'it says something of them')"
fi

echo "1..$number"
