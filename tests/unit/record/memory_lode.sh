#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory record` records of a real program, read by perf and by lode. Prints TAP; skips
# where the kernel lets nobody sample, or where there is no perf to read the recordings.
#
#   tests/unit/record/memory_lode.sh LODE TOUCH LIBRARY DUMP
#       TOUCH: touch_pages.c   LIBRARY: of tools/preload/allocations   DUMP: dump_allocations.c
set -uo pipefail
# shellcheck source=tests/unit/record/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

lode=$(realpath "$1")
touch=$(realpath "$2")
LODE_PRELOAD_DIRECTORY=$(dirname "$(realpath "$3")")
dump=$(realpath "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 1
export LC_ALL=C.UTF-8 LODE_PRELOAD_DIRECTORY

if ! refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
if ! command -v perf >/dev/null; then
	echo "1..0 # SKIP perf is not there to read the recordings"
	exit 0
fi

says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
is_at_least() { [ "$1" -ge "$2" ] || echo "$3: $1, at least $2 expected"; }
value() { sed -nE "s/.*\b$1=([^ ]*).*/\1/p" out; }

# record OPTION…: runs the program; the recordings are in ./rec then.
record() {
	rm -rf rec
	"$lode" memory record --keep-recording rec -o x.lode "$@" -- "${program[@]}" >out 2>err
	status=$?
}
program=("$touch")

perf_agrees() {
	perf script -i rec/perf.data >/dev/null 2>complaint || echo "perf script fails"
	perf report -i rec/perf.data --stdio >/dev/null 2>>complaint || echo "perf report fails"
	[ ! -s complaint ] || echo "perf complains: $(head -n 1 complaint)"
}
# Page faults whose address is one of the 500 pages, each once.
faults() {
	local address start
	start=$(value pages)
	perf script -i rec/perf.data -F event,addr 2>/dev/null | sed -n 's/.*page-faults.*: *//p' |
		while read -r address; do
			echo $((16#$address - start))
		done | awk '$1 >= 0 && $1 < 500 * 4096 && $1 % 4096 == 0' | sort -u | wc -l
}
mappings() { perf script -i rec/perf.data --show-mmap-events 2>/dev/null | grep MMAP2 >mappings; }
has_stacks() {
	perf script -D -i rec/perf.data 2>/dev/null | grep '\.\.\. ustack: size 256' >/dev/null ||
		echo "no sample with 256 bytes of stack"
}
# A mapping that begins where the memory was moved to, of its whole size.
has_grown() {
	mappings
	grep -qE "\[$(value grown)\((0x100000|0x1[0-9a-f]{5})\)" mappings ||
		echo "no mapping of 1 MB at $(value grown)"
}
has_name() {
	mappings
	grep -qF "$1" mappings || echo "no $1"
}

record
fixed=$(cut -d ' ' -f 1-4 out)
check "a program" "$(status_is 7)" "$(says ' samples of .*page-faults')" "$(perf_agrees)"
check "a piece of the stack with each sample" "$(has_stacks)"
check "the first touch of each page" "$(is_at_least "$(faults)" 500 "pages")"
check "mappings that the kernel does not announce" "$(has_grown)" "$(has_name '[stack]')" \
	"$(has_name '[heap]')"
check "a profile" "$([ -s x.lode ] || echo "there is none")" \
	"$("$lode" info x.lode >/dev/null 2>&1 || echo "it cannot be read")" "$(says "'lode memory x.lode'")"

record
if grep -q 'cannot be switched off' err; then
	number=$((number + 1))
	echo "ok $number - the same addresses again # SKIP randomisation cannot be switched off here"
else
	check "the same addresses again" "$([ "$(cut -d ' ' -f 1-4 out)" = "$fixed" ] || cat out)"
fi
record --randomised
check "other addresses" "$([ "$(cut -d ' ' -f 1-4 out)" != "$fixed" ] || echo "the same")"

record --no-page-faults --timer 1000
check "no page faults, by a timer" "$(status_is 7)" "$([ "$(faults)" -eq 0 ] || echo "there are some")" \
	"$(is_at_least "$(perf script -i rec/perf.data -F event | grep -c cpu-clock)" 20 samples)"

LD_PRELOAD=libm.so.6 record --allocations
check "allocations, behind what is preloaded already" "$(status_is 7)" "$(perf_agrees)" \
	"$([ "$(value preload)" = "$LODE_PRELOAD_DIRECTORY/liblode-allocations.so:libm.so.6" ] || cat out)" \
	"$("$dump" figures rec/allocations-*.log | grep -q 'unseen=0 dropped=0.* truncated=0' || echo "no log")" \
	"$(is_at_least 1000000 "$(stat -c %s rec/allocations-*.log)" "a log is not cut to its size")"

cc -static -o still -x c - <<<'int main(void) { for (volatile int i = 0; i < 100000000; i++) ; return 0; }' 2>/dev/null &&
	program=(./still) && record --allocations &&
	check "a static program" "$(status_is 0)" "$(says "still' is linked statically")"

program=(sh -c "\"$touch\"; exit 3")
record --allocations
check "a shell and what it starts" "$(status_is 3)" "$(is_at_least "$(faults)" 500 "pages")" \
	"$(is_at_least "$(find rec -name 'allocations-*' | wc -l)" 2 logs)"
program=("$touch")

LODE_PRELOAD_DIRECTORY=/nonexistent record --allocations
check "no library" "$(status_is 1)" "$(says 'liblode-allocations.so is neither in')"

"$lode" memory record --start-stopped --keep-recording stopped -- "$touch" >out 2>err
status=$?
check "stopped from the start" "$(says 'no sample was taken')" "$(status_is 1)"

if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	cp "$lode" "$touch" . && mkdir nobody && chown 65534 nobody && rm -rf rec
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		./lode memory record --allocations --keep-recording nobody/rec -o nobody/x.lode \
		-- ./touch_pages >out 2>err
	status=$?
	mv nobody/rec rec 2>/dev/null && chown -R 0 rec
	check "without privileges" "$(status_is 7)" "$(is_at_least "$(faults)" 400 "pages")" "$(perf_agrees)"
fi

echo "1..$number"
