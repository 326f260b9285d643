#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Executions counted in qemu: known numbers in spite of signals, faults and threads, those of each
# process, what a killed program did until then, and what callgrind counts. Prints TAP; skips where
# there is no qemu-x86_64.
#
#   tests/e2e/count.sh LODE PROGRAMS      the folder of the programs' sources
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
begin "$1"

for tool in qemu-x86_64 sqlite3 cc; do
	if ! command -v $tool >/dev/null; then
		echo "1..0 # SKIP there is no $tool"
		exit 0
	fi
done

count() { "$lode" run --exact --fast -o "$1.lode" -- "${@:2}" >out 2>err; status=$?; }

# counts PROFILE FUNCTION: of its instructions, in their order.
counts() {
	sqlite3 "$1.lode" "SELECT CAST(i.count AS INTEGER) FROM instruction i
		JOIN function f ON f.id = i.function WHERE f.name = '$2' ORDER BY i.address" | xargs
}
has_whole_flow() {
	"$lode" info "$1.lode" --format csv | awk -F, '
		$2 == "executions" { n = $3 } $2 == "flow conservation" { m = $3 }
		END { exit !(n > 1000 && n == m) }'
}

cc -O1 -g -o interrupted "$sources/interrupted.c" -pthread
count interrupted ./interrupted
check "a program with signals, faults and threads" "$(status_is 0)" \
	"$(holds has_whole_flow interrupted)"
alarms=$(cat out)
is_alarms() { [[ "$(counts interrupted on_alarm)" =~ ^($alarms )+$alarms$ ]]; }
check "each alarm is handled once" "$(holds is_alarms)"
is_spin() { [[ " $(counts interrupted spin) " =~ ^(\ 1)+(\ 3000000)+(\ 1)+\ $ ]]; }
check "a loop is counted exactly in spite of alarms" "$(holds is_spin)"
is_touch() { [[ "$(counts interrupted touch)" =~ ^2000(\ 1000)+$ ]]; }
check "what comes after a fault counts once" "$(holds is_touch)"
is_call() { [[ "$(counts interrupted call)" =~ ^(60000 )+60000$ ]]; }
check "threads lose no counts to each other" "$(holds is_call)"

cc -O1 -g -o rewriting "$sources/rewriting.c" 2>err
count rewriting ./rewriting
check "a program that writes into its own code" "$(status_is 0)" \
	"$(holds has_whole_flow rewriting)"
is_rewriting() { [[ "$(counts rewriting "$1")" =~ ^($2)$ ]]; }
check "an instruction that is begun anew counts once" \
	"$(holds is_rewriting first '1( 900)+ 1')" "$(holds is_rewriting middle '1( 900)+ 1')" \
	"$(holds is_rewriting twice '1( 900)+ 1 1')" "$(holds is_rewriting returning '900( 900)+')" \
	"$(holds is_rewriting indirect '1 1( 900)+ 1')" \
	"$(holds is_rewriting calling '1 1 1 1( 900)+ 1 1 900')" \
	"$(holds is_rewriting atomic '1( 900)+ 1')"

cc -O1 -g -o left "$sources/left.c"
"$lode" run --exact -o left.lode -- ./left >out 2>err
status=$?
check "what a handler that does not return leaves unknown is told" "$(status_is 0)" \
	"$(holds grep -q '^Counts: 10 times .*did not return' err)" \
	"$(holds grep -q 'did not return.* 10 times' <("$lode" info left.lode))"
check "not where only the last instruction of a block can have faulted" \
	"$(! "$lode" info interrupted.lode | grep 'did not return')"

# shellcheck disable=SC2016
count forks sh -c 'f() { i=0; while [ $i -lt 500 ]; do i=$((i+1)); done; }; f; (f); (f; exec sh -c "kill -9 \$\$")'
check "forked processes and executed programs are counted, killed ones too" \
	"$(holds has_whole_flow forks)"

# shellcheck disable=SC2016
count killed sh -c 'kill -9 $$'
check "what a killed program did is there" "$(status_is 137)" "$(holds has_whole_flow killed)"

if ! command -v valgrind >/dev/null; then
	echo "1..$number"
	exit 0
fi

# agree PROGRAM SOURCE…: the counts of the instructions of the program's own file.
agree() {
	local image=$1 sql differing
	cc -O2 -g -o "$image" "${@:2}" -pthread
	count "$image" "./$image"
	valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no \
		--callgrind-out-file="$image.cg" "./$image" >out 2>err
	"$lode" import "$image.cg" -o "$image-cg.lode" >out 2>err
	sql="SELECT i.address, CAST(i.count AS INTEGER) FROM instruction i
		JOIN function f ON f.id = i.function JOIN image m ON m.id = f.image
		WHERE m.path LIKE '%/$image' ORDER BY 1"
	sqlite3 "$image.lode" "$sql" >ours
	sqlite3 "$image-cg.lode" "$sql" >theirs
	# callgrind gives what is outside .text to other files
	differing=$(grep -vxFf ours theirs)
	check "$image counts as under callgrind" "$([ -s theirs ] || echo 'no counts')" \
		"${differing:0:200}"
}
agree plain "$sources/plain.c"
agree branches "$sources/branches.c"
agree threads "$sources/threads.c"
echo "1..$number"
