#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode memory` says of programs whose accesses are known: recorded by lode with allocations, by
# perf, and stripped. Prints TAP; skips where the kernel lets nobody sample, and what needs a
# compiler or perf where there is none.
#
#   tests/e2e/memory.sh LODE PROGRAMS      PROGRAMS: the folder of known_data.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs_sampling
needs gcc

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# record PROFILE OPTION… -- COMMAND…: its output is in ./out then.
record() {
	local profile=$1
	shift
	"$lode" memory record -F 2000 -o "$profile" "$@" >out 2>err
	status=$?
}

view() { "$lode" memory "$@" --format csv 2>>err; }

# share PROFILE VALUE OPTION…: of what the options leave, how much has this value; in percent.
share() {
	local profile=$1 value=$2
	shift 2
	view "$profile" "$@" | awk -F, -v value="$value" '
		NR == 1 { next }
		{ all += $4; if ($2 == "value" && $3 == value) its = $4 }
		END { print all ? int(100 * its / all) : "nothing" }'
}

# is_mostly PROFILE FUNCTION ATTRIBUTE VALUE [PERCENT]
is_mostly() {
	local found least=${5:-80}
	found=$(share "$1" "$4" --by "$3" \
		--where "function == \"$2\" && (has(address) || reason != \"not-memory\")")
	[ "$found" != nothing ] || { echo "no sample of $2" && return; }
	[ "$found" -ge "$least" ] || echo "$found % of $2 is of $3 '$4', $least expected"
}

# knows_data PROFILE [OWN]: every walk's data by what it is, and what is said of thread-local data.
knows_data() {
	is_mostly "$1" walk_structs object "struct particle.speed"
	is_mostly "$1" walk_structs member speed
	is_mostly "$1" walk_initialised object "int initialised[]"
	is_mostly "$1" walk_initialised mapping "$work/known"
	is_mostly "$1" walk_zeroed object "int zeroed[]"
	# its first page may be the last of the initialised data
	is_mostly "$1" walk_zeroed mapping "$work/known [bss]" 40
	is_mostly "$1" walk_stack object "int local[]"
	is_mostly "$1" walk_stack mapping "[stack]"
	is_mostly "$1" walk_hidden object "struct particle.kind"
	# by its beginning, which is in a register still
	is_mostly "$1" walk_scattered variable scattered
	# relative to the thread's base, which the log of allocations knows, or through a pointer
	is_mostly "$1" walk_own object "int own[]"
	is_mostly "$1" walk_own 'has(address) ? mapping : reason' "${2:-[anon]}"
	is_mostly "$1" walk_mapped mapping "[anon]"
	is_mostly "$1" walk_list type "struct node"
	is_mostly "$1" walk_block type "unsigned char"
}

line_of() { grep -n "$1" "$programs/known_data.c" | cut -d : -f 1; }
site() { echo "$1@known_data.c:$(line_of "$2")"; }

knows_sites() {
	is_mostly "$1" walk_list allocation "$(site malloc 'the site of the list')" 70
	is_mostly "$1" walk_block allocation "$(site malloc 'the site of the threads')"
	is_mostly "$1" walk_mapped allocation "$(site mmap '= mmap(')"
}

# Every access of walk_block is in the array that its thread says in ./out is its own.
threads_keep_apart() {
	local own found
	own=$(sed -n 's/^thread \(.*\) \(.*\) \(.*\)/(thread == \1 \&\& address >= \2 \&\& address < \3)/p' out |
		paste -s -d '|' | sed 's/|/ || /g')
	[ "$(grep -c '^thread' out)" -eq 3 ] || echo "there are not three threads"
	found=$(view "$1" --where 'function == "walk_block" && type == "unsigned char"' --by thread \
		--by2 "$own ? \"own\" : \"foreign\"" | awk -F, '$1 == 1 && $4 == "own" && $5 > 20 { own++ }
		$1 == 1 && $4 == "foreign" { foreign += $5 }
		END { print own + 0 " threads in their arrays, " foreign + 0 " accesses outside" }')
	[ "$found" = "3 threads in their arrays, 0 accesses outside" ] || echo "$found"
}

addresses_are_found() {
	local found
	found=$(share "$1" found --by 'has(address) ? "found" : "lost"' \
		--where 'function != "walk_scattered" && (has(address) || reason != "not-memory")')
	[ "$found" -ge 80 ] || echo "only $found % have an address"
}

compile() { "$@" -D_GNU_SOURCE "$programs/known_data.c" -o known -pthread 2>err || echo "does not compile"; }

# known NAME OWN COMMAND…: known answers, of a program as this command compiles it, and as "how" runs it.
how=(./known 100)
known() {
	local name=$1 own=$2 fault
	shift 2
	if ! command -v "$1" >/dev/null; then
		skip "$name" "there is no $1"
		return
	fi
	fault=$(compile "$@")
	record x.lode --allocations -- "${how[@]}"
	# in the frame of the caller, which the recorded stack leads to
	check "$name" "$fault" "$(status_is 0)" "$(knows_data x.lode "$own")" \
		"$(is_mostly x.lode walk_lent object "int buffer[]")" \
		"$(is_mostly x.lode walk_made object "struct particle.kind")" \
		"$(is_mostly x.lode walk_beside 'type =~ "^long" ? "long" : type' long)" \
		"$(knows_sites x.lode)" "$(threads_keep_apart x.lode)" "$(addresses_are_found x.lode)"
}

echo 1..11

# A shell that becomes the program: nothing of the shell's is taken for the program's.
how=(sh -c 'exec ./known 100')
known "C, gcc -O1, executed by a shell" "[anon]" gcc -g -O1
how=(./known 100)
known "C, gcc -O2, position-dependent" "[anon]" gcc -g -O2 -fno-tree-vectorize -no-pie
known "C, clang -O1" "[anon]" clang -g -O1 -fno-vectorize

fault=$(compile gcc -g -O1)
record x.lode -- ./known 200
"$lode" memory x.lode --layout "struct particle" >layout 2>>err
check "the layout of a type" "$fault" "$(status_is 0)" \
	"$(grep -qE ' 8 .*8 .*speed' layout || echo "no member speed at 8")" \
	"$(view x.lode --layout 'struct particle' | awk -F, '$4 == "speed" { if ($14 > 20) found = 1 }
		$3 == "member" && $4 != "speed" && $4 != "kind" { others += $14 } END { if (!found || others) print "not all is speed and kind" }')" \
	"$(view x.lode --by 'has(allocation) ? 1 : 0' | awk -F, 'NR > 1 && $3 == 1 { print "allocations that were not recorded" }')"

# refused STATUS PATTERN OPTION…: what the profile itself has to be asked for.
refused() {
	local expected=$1 pattern=$2
	shift 2
	"$lode" memory x.lode "$@" >out 2>err
	status=$?
	status_is "$expected"
	grep -qF -- "$pattern" err || echo "$*: does not say '$pattern'"
	[ ! -s out ] || echo "$*: an answer all the same"
}
check "what a profile does not have" \
	"$(refused 2 "did you mean 'function'?" --where 'funktion == 1')" \
	"$(refused 2 "column 9: a value is missing" --by 'address>')" \
	"$(refused 2 "no thread '99' in this profile of 4" --thread 99)" \
	"$(refused 2 "no event 'cycles'" --event cycles)" \
	"$(refused 2 "--by2 needs --by" --by2 object)" \
	"$(refused 2 "is not page, line, word or" --granularity 3)" \
	"$(refused 1 "no type 'struct unknown' was accessed" --layout 'struct unknown')"

# Each array is touched first where it is made, by the thread that makes it.
first=$(view x.lode --first-touch)
check "the first touch of pages" "$(status_is 0)" \
	"$(awk -F, '$6 ~ /^walk_zeroed / { n++ } END { if (n < 3) print n + 0 " pages of walk_zeroed" }' <<<"$first")" \
	"$(awk -F, '$6 ~ /^walk_mapped / && $3 == 0 { n++ } END { if (n < 7) print n + 0 " pages of walk_mapped" }' <<<"$first")" \
	"$(awk -F, '$6 ~ /^walk_block / && $3 == 0 { print "a page of walk_block touched by the first thread: " $1 }' <<<"$first")"

# All sequences of two walks: which of them cost most depends on which instruction of a loop the
# samples land on, and by that on the processor; what its operands are does not.
"$lode" mine x.lode --attributes obj,kind --functions '^walk_(structs|list)$' --min-support 0.05% \
	--name objects >out 2>err
status=$?
sequences=$("$lode" report x.lode objects --all --format csv 2>>err)
check "sequences of data objects" "$(status_is 0)" \
	"$(grep -q '""kind:load"",""obj:struct node"",""obj:struct node.next""' <<<"$sequences" || echo "no load of struct node.next")" \
	"$(grep -q '""obj:struct particle.speed""' <<<"$sequences" || echo "no struct particle.speed")" \
	"$(grep -q 'obj:struct node.value.*\],\[.*obj:struct node' <<<"$sequences" || echo "no sequence through the list")"

# What stands in an executable is no debug information: variables and mappings are left.
strip -o bare known
mv bare known
record x.lode -- ./known 40
check "stripped" "$(status_is 0)" "$(addresses_are_found x.lode)" \
	"$(view x.lode --by layer | grep -q '^0,value,type,' && view x.lode --by 'basename(image)' --where 'layer == "type"' | grep ',known,')" \
	"$(share x.lode "$work/known [bss]" --by mapping --where 'basename(image) == "known"' | awk '$1 < 10 { print "only " $1 " % in the zeros" }')"

if ! command -v g++ >/dev/null; then
	skip "C++" "there is no g++"
else
	g++ -g -O1 -o known_classes "$programs/known_classes.cpp" 2>err || fault="does not compile"
	record x.lode --allocations -- ./known_classes 100
	check "C++" "$fault" "$(status_is 0)" "$(is_mostly x.lode walk_vector object 'geo::point.x')" \
		"$(is_mostly x.lode walk_vector allocation "new@known_classes.cpp:$(grep -n 'the site of the vector' "$programs/known_classes.cpp" | cut -d : -f 1)")" \
		"$(is_mostly x.lode walk_inherited object 'geo::circle.radius')" \
		"$(is_mostly x.lode walk_static object 'long int geo::circle::total' 60)"
fi

if ! command -v perf >/dev/null; then
	skip "recorded by perf" "there is no perf"
	skip "recorded by perf, one process after the other" "there is no perf"
else
	fault=$(compile gcc -g -O1)
	# perf leaves out the mapping of the stack, and has no allocations.
	registers=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,R9,R10,R11,R12,R13,R14,R15
	perf record -N -q -e cpu-clock:u -F 2000 -d --user-regs=$registers -o x.data ./known 60 >out 2>err
	"$lode" import x.data -o x.lode >/dev/null 2>>err
	status=$?
	check "recorded by perf" "$fault" "$(status_is 0)" "$(knows_data x.lode)" "$(threads_keep_apart x.lode)" \
		"$(addresses_are_found x.lode)"

	perf record -N -q -e cpu-clock:u -F 2000 --user-regs=$registers -o x.data ./known 40 >out 2>err
	"$lode" import x.data -o x.lode >/dev/null 2>>err
	status=$?
	check "recorded by perf without --data: only code and stack are known" "$(status_is 0)" \
		"$(is_mostly x.lode walk_stack mapping '[stack]')" \
		"$(is_mostly x.lode walk_zeroed reason invalid-address)"
fi
