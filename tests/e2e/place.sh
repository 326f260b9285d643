#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `lode place`, `lode place apply` and `lode place export` with real threads on two of this machine's
# processors, and a stand-in for mbind() where there is one memory. Prints TAP.
#
#   tests/e2e/place.sh LODE PROGRAM STATIC FAKE_MBIND WRITE_PROFILE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

program=$(realpath "$2")
static=$(realpath "$3")
fake=$(realpath "$4")
write_profile=$(realpath "$5")
begin "$1"

says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
is_silent() { [ ! -s err ] || echo "stderr is not empty"; }
prints() { grep -qxF -e "$1" out || echo "stdout has no line '$1'"; }
shows() { grep -qE -e "$1" out || echo "stdout does not show '$1'"; }
logs() { grep -qE -e "$1" mbind.log 2>/dev/null || echo "mbind() was not called with '$1'"; }
is_same() { cmp -s "$1" "$2" || echo "$1 and $2 differ: $(diff "$1" "$2" | head -n 3 | tr '\n' '|')"; }
placement() { printf '%s\n' "$@" >x.place; }

# apply OPTION… -- PROGRAM…: sets $status.
apply() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	"$lode" place apply "${options[@]}" x.place "$@" >out 2>err
	status=$?
}

# The same, mbind() being written down instead.
apply_recorded() {
	rm -f mbind.log
	LD_PRELOAD=$fake MBIND_LOG=$work/mbind.log apply "$@"
}

lode_place() {
	"$lode" place "$@" >out 2>err
	status=$?
}

# What threads compute is the same wherever they run.
without_processors() { sed 's/^\(thread [0-9]*\): .*/\1/' "$1"; }

processors=$(nproc)
two="numa:2 pu:1"
ours=$(taskset -pc $$ | sed 's/.*: //')
echo "1..24"

# --- threads ---
placement 'memories 1' 'threads 3' 'place range 0x7ffff0000000 to 0x7ffff7bfffff on memory 0'
apply -- "$program" 3
check "on one memory it says that nothing changes, and runs the program" \
	"$(status_is 7)" "$(numactl --hardware 2>/dev/null | grep -q '^available: [2-9]' || says 'one memory: nothing changes')" "$(shows '^sum ')"
"$program" 3 >plain
without_processors plain >a
without_processors out >b
check "the program computes the same" "$(is_same a b)"

if [ "$ours" = 0,1 ] || [ "$ours" = 0-1 ]; then
	placement 'memories 2' 'threads 4' 'run thread 0 on memory 1' 'run thread 1 on memory 0' \
		'distribute threads 2:3 across memories'
	apply --topology "$two" -- "$program" 4
	check "threads run on the processors of their memory" "$(status_is 7)" "$(is_silent)" \
		"$(prints 'thread 0: 1')" "$(prints 'thread 1: 0')" "$(prints 'thread 2: 0')" \
		"$(prints 'thread 3: 1')"
	apply --topology "$two" -- "$program" 4 c11
	check "so do threads of C11" "$(prints 'thread 1: 0')" "$(prints 'thread 3: 1')"
	apply --topology "$two" -- "$program" 6
	check "more threads than placed run anywhere" "$(prints 'thread 5: 0 1')" \
		"$(says 'created 6 threads, the placement is for 4')"
	apply --topology "$two" -- "$program" 2
	check "fewer threads are told" "$(prints 'thread 1: 0')" \
		"$(says 'created 2 threads, the placement is for 4')"
	apply --topology "$two" -- "$program" 4 fork
	check "what is forked runs anywhere" "$(prints 'thread 0: 1')" "$(prints 'thread 0: 0 1')" \
		"$(prints 'thread 3: 0 1')" "$(is_silent)"
	apply --topology "$two" -- "$program" 4 exec
	check "what is executed in its place is placed" "$(is_silent)" \
		"$([ "$(grep -cxF 'thread 0: 1' out)" = 2 ] || echo "not twice: $(tr '\n' '|' <out)")"
	placement 'memories 1' 'threads 2' 'run thread 0 on memory 0 using cpu 1' \
		'run thread 1 on memory 0 using cpu 0'
	apply -- "$program" 2
	check "a thread uses the processor it is to use" "$(prints 'thread 0: 1')" "$(prints 'thread 1: 0')"
	apply -- sh -c "$program 2; exit 3"
	check "a program that another one starts runs anywhere" "$(status_is 3)" "$(prints 'thread 0: 0 1')"
else
	for _ in 1 2 3 4 5 6 7 8; do check "needs the processors 0 and 1 # SKIP there are $processors: $ours"; done
fi

# --- memory ---
placement 'memories 2' 'threads 2' 'place object counts on memory 1' 'place object [heap] on memory 0'
apply_recorded --topology "$two" -- "$program" 2 addresses
counts=$(awk '/^0x/ { print $1 }' out)
heap=$(awk '/^0x/ { print $2 }' out)
covers() { # covers ADDRESS MODE NODES: a call that holds the address
	while read -r start end mode nodes; do
		((0x$start <= $1 && $1 < 0x$end)) && [ "$mode $nodes" = "$2 $3" ] && return
	done <mbind.log
	echo "no call of mbind() on $1 with mode $2, nodes $3"
}
check "a variable and the heap are placed" "$(is_silent)" "$(covers "$counts" 1 2)" "$(covers "$heap" 1 1)"

# Twice: the addresses are the same in the next run, and as without the library.
setarch -R "$program" 1 addresses | tail -n 1 >plain
apply_recorded --topology "$two" -- "$program" 1 addresses
tail -n 1 out >first
check "addresses are those of a run without the library" "$(is_same plain first)"

large=$(awk '{ print $3 }' first)
first_page=$((large / 4096 * 4096))
placement 'memories 2' 'threads 1' \
	"$(printf 'place range 0x%x to 0x%x on memory 1' "$first_page" $((first_page + 0x7ffff)))" \
	"$(printf 'interleave range 0x%x to 0x%x' $((first_page + 0x80000)) $((first_page + 0xfffff)))"
apply_recorded --topology "$two" -- "$program" 1 addresses
check "a block is placed when the allocator gives it out, page by page" \
	"$(covers "$first_page" 1 2)" "$(covers $((first_page + 0x80000)) 3 3)"
apply_recorded --strict --topology "$two" -- "$program" 1 addresses
check "strictly when asked" "$(covers "$first_page" 2 2)"

placement 'memories 2' 'threads 4' 'place range 0x550000000000 to 0x6fffffffffff on memory 1' \
	'interleave range 0x700000000000 to 0x7fffffffefff' 'place object [heap] on memory 0'
setarch -R "$program" 4 churn >plain
apply_recorded --topology "$two" -- "$program" 4 churn
without_processors plain >a
without_processors out >b
check "memory of all kinds keeps what it holds, everything placed" "$(status_is 7)" "$(is_same a b)" \
	"$(logs ' 3 3$')" "$(logs ' 1 [12]$')"

# --- what cannot be done ---
placement 'memories 2' 'threads 1' 'place object no_such on memory 0' \
	'place object malloc@parse.c:120 on memory 1' 'policy data default'
apply_recorded --topology "$two" -- "$program" 1
check "objects that are not there are named" "$(status_is 7)" "$(says "object 'no_such' is not loaded")" \
	"$(says "'malloc@parse.c:120' is an allocation site")" "$(says 'not applied: line 5: policy data default')"
apply_recorded --topology "$two" -- "$static" 1
check "a static program runs, and it is said that nothing was placed" "$(status_is 7)" \
	"$(says 'did not load')"
placement 'memories 9' 'threads 1'
apply --topology "$two" -- "$program" 1
check "more memories than there are" "$(status_is 1)" "$(says 'for 9 memories, and this machine has 2')"
placement 'memories 2' 'threads 1' 'run thread 0 on memory 1 using cpu 5'
apply --topology "$two" -- "$program" 1
check "a processor that is not there" "$(status_is 1)" "$(says 'cpu 5 of memory 1, which has 1')"

# --- from the profile to the program ---
"$write_profile" x.lode 2>err || echo "# no profile: $(cat err)"
lode_place x.lode --topology "$two" --threads-per-memory 2 -o made.place
check "a placement is made, and what it would do is said" "$(status_is 0)" "$(is_silent)" \
	"$(shows '^majority +8[0-9]\.?[0-9]* %')" "$(shows '^first-touch +50.0 %')" \
	"$(shows 'interleaved pages: 4')" "$([ -s made.place ] || echo 'no file')"
cp made.place x.place
apply_recorded --topology "$two" -- "$program" 4
check "and a program runs by it" "$(status_is 7)" "$(prints 'thread 2: 0')" "$(prints 'thread 3: 1')"

lode_place export made.place --as c
if command -v gcc >/dev/null && [ -e /usr/include/numa.h ]; then
	cp out placement.c
	printf 'int place_thread(unsigned); int main(void) { return place_thread(4); }\n' >main.c
	check "the source text is compiled" "$(status_is 0)" \
		"$(gcc -Wall -Wextra -Werror placement.c main.c -lnuma -o compiled 2>&1 && ./compiled || echo "status $?")"
else
	check "the source text is compiled # SKIP needs gcc and libnuma-dev"
fi
placement 'memories 1' 'threads 2' 'run thread 0 on memory 0 using cpu 0' 'run thread 1 on memory 0'
lode_place export x.place --as numactl
cp out run.sh
if command -v numactl >/dev/null; then
	said=$(sh run.sh echo finished 2>&1)
	check "numactl runs a program by the script" "$([ "$said" = finished ] || echo "it says '$said'")"
else
	check "numactl runs a program by the script # SKIP needs numactl"
fi
lode_place export x.place --as hwloc
cp out bind.sh
if command -v hwloc-bind >/dev/null; then
	sleep 60 &
	sleeper=$!
	sh bind.sh $sleeper >said 2>&1
	bound=$?
	processor=$(taskset -pc $sleeper | sed 's/.*: //')
	kill $sleeper
	first=$(echo "$ours" | grep -oE '^[0-9]+')
	check "hwloc-bind binds a running process" "$([ $bound = 0 ] || head -n 1 said)" \
		"$([ "$processor" = "$first" ] || echo "it may run on $processor, not $first")"
else
	check "hwloc-bind binds a running process # SKIP needs hwloc-bind"
fi
