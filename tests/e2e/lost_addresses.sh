#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Views by address and placements of recordings in which a thread, or every sample, has no address,
# or the registers are garbage: they say so, and claim nothing of what they did not see. Prints TAP;
# skips where the kernel lets nobody sample.
#
#   tests/e2e/lost_addresses.sh LODE
set -uo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$programs/cases.sh"

begin "$1"
export HOME=$work
needs_sampling
needs gcc python3

run() {
	"$lode" "$@" >out 2>err
	status=$?
}

shows() { head -n 6 out | grep -qE -e "$1" || echo "the first lines do not say '$1': $(head -n 6 out | tr '\n' '|')"; }
says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
no_file() { [ ! -e "$1" ] || echo "there is a file $1"; }

# value SECTION NAME COLUMN LEAST MOST: a number of the CSV in ./out.
value() {
	awk -F, -v section="$1" -v name="$2" -v column="$3" -v least="$4" -v most="$5" '
		$1 == section && $2 == name { found = 1; value = $column }
		END { if (!found || value < least || value > most)
			print section, name, "is", (found ? value : "missing") ", expected", least, "to", most }' out
}

two="numa:2 core:1 pu:1"
gcc -O2 -g -pthread "$programs/lost_threads.c" -o lost_threads || exit 1
gcc -O2 -g "$programs/ordered_look_ups.c" -o ordered_look_ups || exit 1
echo "1..11"

"$lode" memory record -F 2000 -o half.lode -- ./lost_threads >out 2>err
run memory half.lode
check "a histogram names the thread that it cannot show" "$(status_is 0)" \
	"$(shows '% of load and store samples have no address \(tls ')" \
	"$(shows '^Thread 1 [^:]*: (9[5-9]\.. %|100\.0 %) of its load and store samples have no address')"
run memory half.lode --first-touch
check "so do first touches" "$(shows '^Thread 1 ')"
run memory half.lode --sharing
check "and shared lines" "$(shows '^Thread 1 ')"
run place half.lode --topology "$two" -o half.place
check "a placement says it of the thread" "$(status_is 0)" "$(shows '^Thread 1 ')" \
	"$(shows '^Local with this placement: ')" \
	"$(grep -q '% of loads and stores have no address' half.place || echo 'the file does not say it')"
# Both threads have the same time: one is not seen, so that of all half is local at least.
run place half.lode --topology "$two" --format csv
check "and claims what it saw, and the bounds of all" "$(value policy majority 4 0.95 1)" \
	"$(value at-least majority 4 0.25 0.75)" "$(value at-most majority 4 0.95 1)" \
	"$(value thread 1 4 0 0.05)" "$(value thread 2 4 0.9 1)"

"$lode" memory record -F 2000 --keep-recording kept -o all.lode -- ./lost_threads lost >out 2>err
run place all.lode --topology "$two" -o all.place
check "without an address there is no placement" "$(status_is 1)" "$(no_file all.place)" \
	"$(says 'have a data address|has a data address')" "$(says 'too few|nothing can be placed')" \
	"$(says "lode memory record --windows")"
run memory all.lode
check "and views say that there are none, and how to record" "$(status_is 0)" \
	"$(shows '^(No load or store sample has an address|[0-9.]+ % of load)')" \
	"$(shows 'To lose less')"

"$lode" memory record -F 2000 --keep-recording whole -o whole.lode -- ./lost_threads >out 2>err
python3 "$programs/garbage_registers.py" whole/perf.data garbage.data 2>err
"$lode" import garbage.data -o garbage.lode >out 2>err
run memory garbage.lode
check "registers that point nowhere are told" "$(status_is 0)" "$(shows 'invalid-address')"
run place garbage.lode --topology "$two" -o garbage.place
check "and give no placement" "$(status_is 1)" "$(no_file garbage.place)" "$(says 'too few|nothing can be placed')"

# Both arrays have 32 MiB, which mostly begin inside a page.
"$lode" memory record -F 2000 --allocations --no-page-faults -o ordered.lode -- ./ordered_look_ups >out 2>err
run memory ordered.lode
check "look-ups by a loaded index have the pages of their objects" "$(status_is 0)" \
	"$(shows ' % in 8,19[23] pages of long int table\[\]')" \
	"$(shows ' % in 8,19[23] pages of malloc@ordered_look_ups.c')"
run memory ordered.lode --coverage --format csv
check "and these count, but not as addresses" "$(awk -F, '$3 == "all" { weight[$2] = $4 }
	END { if (weight["ranged-access"] < 0.95 * weight["lost-access"] ||
		weight["ranged-access"] > weight["lost-access"] || weight["lost-access"] < 0.5 * weight["access"])
		print "ranges have", weight["ranged-access"], "of", weight["lost-access"], "lost,", weight["access"], "all" }' out)"
