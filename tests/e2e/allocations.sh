#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Allocation sites, their figures and callers, of programs that know them. Prints TAP; skips where
# the kernel lets nobody sample.
#
#   tests/e2e/allocations.sh LODE SOURCES
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"
# Meson sets it for tests; malloc() then writes to all that it gives, and touches its pages first.
unset MALLOC_PERTURB_

needs_sampling

# The line of a source that is marked so: line FILE MARK
line() { sed -n "/\(site\|caller\): $2\b/=" "$sources/$1" | head -n 1; }

record() {
	rm -rf rec
	"$lode" memory record --allocations --keep-recording rec -o x.lode -- "$@" >out 2>err
	status=$?
}
# Columns of the view by name, of rows that match: figures PATTERN COLUMN… -- OPTION…
figures() {
	local pattern=$1 columns=()
	shift
	while [ "$1" != -- ]; do columns+=("$1") && shift; done
	shift
	"$lode" memory x.lode --allocations --format csv "$@" 2>err | python3 -c '
import csv, re, sys
for row in csv.DictReader(sys.stdin):
    if re.search(sys.argv[1], row["site"]):
        print(" ".join(row[column] for column in sys.argv[2:]))' "$pattern" "${columns[@]}"
}
expect() { diff expected found >difference || sed 's/^/  /' difference; }

# Sites: site, blocks, bytes, at peak, at end, wrappers skipped.
c_sites() {
	figures '@wrappers' site allocations bytes bytes_at_peak bytes_at_end skipped -- --sort bytes |
		sed 's/\.constprop\.[0-9]*//' >found
	cat >expected <<END
calloc@wrappers.c:$(line wrappers.c matrix) 2 2080000 2000000 80000 
malloc@wrappers.c:$(line wrappers.c text) 1 100000 100000 0 fetch
malloc@wrappers.c:$(line wrappers.c more) 1 5024 5024 0 fetch, pool_take
malloc@wrappers.c:$(line wrappers.c lines) 1 1000 0 1000 fetch
malloc@wrappers.c:$(line wrappers.c node) 60 960 960 960 
malloc@wrappers.c:$(line wrappers.c short) 100 700 0 0 fetch
malloc@wrappers.c:$(line wrappers.c less) 1 320 320 320 fetch, pool_take
END
	expect
}
peak() {
	"$lode" memory x.lode --allocations --format json | python3 -c '
import json, sys
view = json.load(sys.stdin)
sites = [row for row in view["rows"] if row["level"] == 0 and not row["site"].startswith("mmap@")]
total = sum(row["bytes_at_peak"] for row in sites)
if total != view["peak"]["bytes"]: print("at peak", total, "of", view["peak"]["bytes"])
if view["peak"]["bytes"] < 2106304: print("peak", view["peak"]["bytes"])
if any(row["most_bytes"] < row["bytes_at_peak"] for row in sites): print("more at the peak than ever")
short = [row for row in sites if row["bytes"] == 700]
if short[0]["most_bytes"] != 7: print("most of the short-lived:", short[0]["most_bytes"])'
}
# Callers of node_new: main made 50, build 10, which main called.
callers() {
	figures "wrappers.c:$(line wrappers.c node)\$" level function place allocations -- --callers 3 |
		sed 's/\.[a-z]*\.[0-9]* / /' >found
	cat >expected <<END
0 node_new wrappers.c:$(line wrappers.c node) 60
1 main wrappers.c:$(line wrappers.c main) 50
1 build wrappers.c:$(line wrappers.c build) 10
2 main wrappers.c:$(sed -n '/^\tbuild();/=' "$sources/wrappers.c") 10
END
	"$lode" info x.lode >out || echo "no info"
	grep -qE '^ *fetch +104 +passes a size on' out || echo "info does not list the wrapper: $(grep -A3 Wrappers out)"
	"$lode" memory x.lode --callers 2 >out || echo "no text"
	grep -q 'by fetch, pool_take' out || echo "the text does not say what was skipped"
	expect
}
skip_frames() {
	"$lode" import --skip-frame 'node_*' --skip-frame 'read_?ines' -o x.lode rec/* >out 2>err || echo "import fails"
	figures '@wrappers' site allocations -- --sort blocks >found
	grep -qx "malloc@wrappers.c:$(line wrappers.c main) 50" found || echo "node_new is not skipped"
	grep -q "wrappers.c:$(line wrappers.c lines) " found && echo "read_lines is not skipped"
}

# What clang optimises and gcc does not adds little to the other two ways round.
builds=("gcc -O2" "clang -O0")
[ -z "${LODE_LONG_TESTS:-}" ] || builds+=("gcc -O0" "clang -O2")
for build in "${builds[@]}"; do
	read -r compiler level <<<"$build"
	command -v "$compiler" >/dev/null || continue
	"$compiler" "$level" -g -o wrappers "$sources/wrappers.c" 2>err || continue
	record ./wrappers
	check "wrappers, $build" "$(status_is 0)" "$(c_sites)" "$(peak)"
done
# What memcheck and massif count of the same program: in all, at the end, at the peak, and by site there.
valgrind_agrees() {
	valgrind ./wrappers 2>memcheck >out || echo "memcheck fails"
	valgrind --tool=massif --heap-admin=0 --peak-inaccuracy=0 --threshold=0 --detailed-freq=1 \
		--alloc-fn=fetch --alloc-fn=pool_take --massif-out-file=massif ./wrappers >out 2>&1 ||
		echo "massif fails"
	"$lode" memory x.lode --allocations --format json 2>err | python3 -c '
import json, re, sys
def number(text): return int(text.replace(",", ""))
view = json.load(sys.stdin)
memcheck, massif = open("memcheck").read(), open("massif").read()
end = re.search(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks", memcheck)
used = re.search(r"heap usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes", memcheck)
peak = re.search(r"mem_heap_B=(\d+)\n(?:mem_.*\n)*heap_tree=peak\n(n\d+: .*\n(?: .*\n)*)", massif)
heap = view["heap"]
for what, ours, theirs in (
    ("blocks", heap["allocations"], used[1]), ("bytes", heap["bytes"], used[2]),
    ("blocks at the end", heap["allocations_at_end"], end[2]),
    ("bytes at the end", heap["bytes_at_end"], end[1]), ("peak", view["peak"]["bytes"], peak[1])):
    if ours != number(theirs): print(what, ours, "not", theirs)
sites = {}
for bytes, place in re.findall(r"^ n\d+: (\d+) 0x\w+: .*\((.*)\)$", peak[2], re.M):
    sites[place] = sites.get(place, 0) + int(bytes)
for row in view["rows"]:
    ours, theirs = row["bytes_at_peak"], sites.pop(row["site"].split("@")[1], 0)
    if row["level"] == 0 and ours != theirs: print(row["site"], ours, "not", theirs)
if sites: print("no site", sites)'
}

check "callers" "$(callers)"
if command -v valgrind >/dev/null && gcc -O0 -g -o wrappers "$sources/wrappers.c" 2>err; then
	record ./wrappers
	check "figures are those of memcheck and massif" "$(status_is 0)" "$(valgrind_agrees)"
else
	number=$((number + 1))
	echo "ok $number - figures are those of memcheck and massif # SKIP there is no valgrind"
fi
check "frames that the user skips" "$(skip_frames)"

cpp_sites() {
	figures '@containers' site allocations bytes -- --sort blocks | sort >found
	sort >expected <<END
new@containers.cpp:$(line containers.cpp count) 200 $((100 * 72 + 100 * 101))
new@containers.cpp:$(line containers.cpp fill) 11 $((16 * 2047))
new@containers.cpp:$(line containers.cpp make) 1 16
new@containers.cpp:$(line containers.cpp sized) 2 32000
END
	expect
}
for build in "${builds[@]}"; do
	read -r compiler level <<<"$build"
	compiler=${compiler/gcc/g}++
	command -v "$compiler" >/dev/null || continue
	"$compiler" "$level" -g -o containers "$sources/containers.cpp" 2>err || continue
	record ./containers
	check "containers, $compiler $level" "$(status_is 0)" "$(cpp_sites)"
done

# At -O0 the frames are there; at -O2 they are put back.
tail_sites() {
	figures '@tails' site allocations bytes -- --sort bytes | grep -v '^calloc' | sort >found
	sort >expected <<END
malloc@tails.c:$(line tails.c ninth) 1 90000
malloc@tails.c:$(line tails.c eighth) 1 80000
malloc@tails.c:$(line tails.c thread) 1 70000
malloc@tails.c:$(line tails.c sixth) 1 60000
malloc@tails.c:$(line tails.c fifth) 1 50000
malloc@tails.c:$(line tails.c fourth) 1 40000
malloc@tails.c:$(line tails.c third) 1 30000
malloc@tails.c:$(line tails.c second) 1 20000
malloc@tails.c:$(line tails.c first) 1 10000
malloc@tails.c:$(line tails.c node) 1 24
END
	expect
}
for build in "gcc -O0" "gcc -O2" "clang -O2" "gcc -O2 -fno-plt"; do
	read -ra command <<<"$build"
	command -v "${command[0]}" >/dev/null || continue
	"${command[@]}" -g -o tails "$sources/tails.c" -pthread 2>err || continue
	record ./tails
	check "functions that end in a call, $build" "$(status_is 0)" "$(tail_sites)"
done

rust_sites() {
	figures '@library\.rs' site bytes -- --sort bytes | sort >found
	sort >expected <<END
malloc@library.rs:$(line library.rs filled) 10000
malloc@library.rs:$(line library.rs cloned) 10000
malloc@library.rs:$(line library.rs part) 9000
malloc@library.rs:$(line library.rs boxed) 8000
malloc@library.rs:$(line library.rs clone) 40000
END
	expect
}
for level in 0 2; do
	command -v rustc >/dev/null || continue
	rustc -g -C opt-level=$level -o library "$sources/library.rs" 2>err || continue
	record ./library
	check "Rust's library, -O$level" "$(status_is 0)" "$(rust_sites)"
done

# The allocator's first touches are due to who allocates; the program's own are its.
touched() {
	"$lode" memory x.lode --first-touch --format csv | python3 -c '
import csv, sys
from collections import Counter
n = Counter(row["touched_at"] for row in csv.DictReader(sys.stdin))
for site in sys.argv[1:]:
    if n[site] < 45: print(site, n[site], "pages of 50")
if sum(n[place] for place in n if place.startswith("main pages.c")) < 20: print("main did not touch")
for place in n:
    if "_int_m" in place or place.startswith("sysmalloc"): print(place, n[place], "pages")
' "aligned_alloc@pages.c:$(line pages.c aligned)" "malloc@pages.c:$(line pages.c plain)"
}
cc -O1 -g -fno-builtin -o pages "$sources/pages.c" 2>err
record ./pages
check "pages that the allocator touches" "$(status_is 0)" "$(touched)"

# Samples in the recorder's library, and in the clock that it reads, are not in the profile; nor are
# those in a library of the user's with such a name.
left_out() {
	"$lode" info x.lode --format json | python3 -c '
import json, sys
facts = json.load(sys.stdin)
images = [row["name"] for row in facts["images"] if row["share"] > 0.02]
for name in images:
    if "liblode-" in name or (name == "[vdso]" and sys.argv[1] == "0"): print(name, "is in the profile")
n = sum(row["samples"] for row in facts["unresolved"] if "own libraries" in row["reason"])
if n < 20: print(n, "samples are left out")' \
		"$(sqlite3 x.lode "SELECT count(*) FROM hot_function WHERE image = '[vdso]' AND name LIKE 'fn_%'")"
}
# Some kernels' vDSO has functions without a name, from where callers are not found.
cat >churn.c <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 4000000; i++) {
		void *volatile block = malloc((size_t)(i % 100));
		free(block);
	}
	return 0;
}
END
cc -O2 -o churn churn.c 2>err
record ./churn
check "samples of the recorder are left out" "$(status_is 0)" "$(left_out)"
cat >spin.c <<'END'
__attribute__((constructor)) static void spin(void)
{
	for (volatile int i = 0; i < 100000000; i++)
		;
}
END
cc -O1 -shared -fPIC -o liblode-windows.so spin.c 2>err
record env LD_PRELOAD="$PWD/liblode-windows.so" ./churn
check "a library that is called like ours" "$(status_is 0)" "$(left_out)"

echo "1..$number"
