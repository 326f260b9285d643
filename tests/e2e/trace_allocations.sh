#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Misses of a traced program by where it allocated the memory: its arrays, their sizes and how often
# they are walked over are known. Prints TAP.
#
#   trace_allocations.sh LODE SOURCES
set -euo pipefail
sources=$(realpath "$2")
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

needs qemu-x86_64 cc
begin "$1"
unset MALLOC_PERTURB_
# calloc() is not known to be one, and what is written is not left out.
cc -g -O1 -fno-builtin -o traced "$sources/traced.c"
caches='d1=4K:4:64'

line() { sed -n "/site: $1\b/=" "$sources/traced.c"; }
# misses FILE FUNCTION MARK: of the objects that are so named
misses() {
	awk -F, -v name="$2@traced.c:$(line "$3")" '$1 == name { sum += $2 } END { print sum + 0 }' "$1"
}
# near FOUND EXPECTED: the first and last line may be the allocator's as well, and be there already
near() { [ "$1" -ge $(($2 - 4)) ] && [ "$1" -le $(($2 + 4)) ] || echo "$1 misses, not $2"; }
# are_shares FILE TIMES: a walk misses each line once; what calloc() clears is no block yet
are_shares() {
	near "$(misses "$1" malloc large)" $(($2 * 3 * 16384))
	near "$(misses "$1" malloc small)" $(($2 * 3 * 4096))
	near "$(misses "$1" malloc first)" $(($2 * 512))
	near "$(misses "$1" calloc second)" $(($2 * 2 * 512))
}
simulate() {
	status=0
	"$lode" trace simulate --cache "$caches" --by object --format csv "$@" >out 2>err || status=$?
}

simulate --allocations -o live.csv -- ./traced
check "objects of a program that runs" "$(status_is 0)" "$(are_shares live.csv 1)"

"$lode" trace record --allocations --level fast -o x.rps -- ./traced >out 2>err
check "a trace has a log beside it" "$([ -s x.rps.allocations ] || ls)" "$([ ! -s out ] || cat out)" \
	"$(find . -name '.*allocations*')"
simulate -o file.csv x.rps
check "objects of a trace" "$(status_is 0)" "$(are_shares file.csv 1)"
simulate -o part.csv --from 100000 x.rps
check "of a part of it" "$(status_is 0)" "$(near "$(misses part.csv malloc large)" 49152)"
"$lode" import x.rps -o x.lode >out
check "the profile knows the sites" "$("$lode" memory x.lode --allocations --format csv >sites.csv;
	grep -q "calloc@traced.c:$(line second)" sites.csv || cat sites.csv)"

simulate --allocations -o live.csv -- sh -c './traced; exec ./traced'
check "of processes, and of a program in another's place" "$(status_is 0)" "$(are_shares live.csv 2)"
"$lode" trace record --allocations --level fast -o s.rps -- sh -c './traced; exec ./traced' >out 2>err
"$lode" import s.rps s.*.rps --simulate "$caches" -o s.lode >out
"$lode" memory s.lode --by object --event l1d-miss --format csv >s.csv
weight() { awk -F, -v name="malloc@traced.c:$(line "$1")" '$3 == name { print $4 }' s.csv; }
check "each has its log" "$(near "$(weight large)" 98304)" "$(near "$(weight small)" 24576)"

"$lode" run --trace --allocations --simulate "$caches" -o r.lode -- ./traced >out 2>err
"$lode" memory r.lode --by object --event l1d-miss --format csv >s.csv
check "in one step" "$(near "$(weight large)" 49152)" "$(near "$(weight small)" 12288)"
"$lode" run --trace --allocations --simulate "$caches" --keep-recording kept -o k.lode -- ./traced >out 2>err
"$lode" memory k.lode --by object --event l1d-miss --format csv >s.csv
check "and with its recording" "$(near "$(weight large)" 49152)" \
	"$([ -s kept/trace.rps.allocations ] || ls kept)"
status=0
"$lode" run --allocations -- ./traced >out 2>err || status=$?
check "not of samples" "$(status_is 2)"

"$lode" trace record --level fast -o x.rps -- ./traced >out 2>err
check "a log does not outlive its trace" "$([ ! -e x.rps.allocations ] || echo 'it is there')"
simulate x.rps
check "and nothing is named by it" "$(grep -F traced.c out || true)"
simulate --allocations x.rps
check "a trace has its own" "$(status_is 2)"
echo "1..$number"
