#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The whole way: programs are recorded with their allocations, a placement for two memories is made
# of it, and they are run by it with a stand-in for mbind(). What was bound is compared with what
# the programs themselves say of that run, and what was predicted with a count by another program.
# Prints TAP; skips where the kernel lets nobody sample, or randomises whatever one says.
#
#   tests/e2e/place_again.sh LODE PROGRAM FAKE_MBIND RECORDER PLACER
#       PROGRAM: handed_over.c   RECORDER, PLACER: the libraries of tools/preload
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

lode=$(realpath "$1")
program=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Where the dynamic linker's own memory ends, and the program's mappings begin with it, hangs on the
# number of libraries and the lengths of their names: the same ones in each run.
cp "$3" "$work/libfake.so"
cp "$4" "$5" "$work"
cd "$work" || exit 1
fake=$work/libfake.so
unset LD_LIBRARY_PATH
export LC_ALL=C.UTF-8 LODE_PRELOAD_DIRECTORY=$work
topology="numa:2 core:1 pu:1"

if ! refusal=$("$lode" memory record -o x.lode -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi
if grep -q 'cannot be switched off' <<<"$refusal"; then
	echo "1..0 # SKIP randomisation cannot be switched off here"
	exit 0
fi

is_same() { cmp -s "$1" "$2" || echo "$1 and $2 differ: $(diff "$1" "$2" | head -n 4 | tr '\n' '|')"; }
is_silent() { [ ! -s err ] || echo "stderr is not empty"; }
is_at_least() { [ "$1" -ge "$2" ] || echo "$3: $1, at least $2 expected"; }

record() {
	LD_PRELOAD=$fake "$lode" memory record --allocations -o x.lode -- "$@" >recorded 2>err
	status=$?
}
make_placement() {
	"$lode" place x.lode --topology "$topology" -o x.place >out 2>>err || echo "lode place fails"
}
apply() {
	rm -f mbind.log
	LD_PRELOAD=$fake MBIND_LOG=$work/mbind.log "$lode" place apply --topology "$topology" \
		x.place -- "$@" >placed 2>err
	status=$?
}

# The share of local accesses by the placement, page by page, from what `lode memory` lists.
naive_share() {
	"$lode" memory x.lode --by-thread --format csv >accesses.csv 2>>err
	"$lode" memory x.lode --first-touch --format csv >touches.csv 2>>err
	perl "$here/naive_share.pl" x.place accesses.csv touches.csv
}
predicted_share() {
	"$lode" place x.lode --topology "$topology" --format csv | sed -n 's/^policy,majority,[^,]*,\([^,]*\),.*/\1/p'
}

# Of a run, "block ADDRESS END MEMORY" must have been bound so: each page of it, by a policy that
# prefers (1) this memory's node.
is_bound() {
	perl -e '
		no warnings "portable";
		my ($log, $start, $end, $memory) = @ARGV;
		open my $file, "<", $log or print("mbind() was not called\n"), exit;
		my %node;
		while (<$file>) {
			my ($from, $to, $mode, $nodes) = map { hex } split;
			for (my $at = $from; $at < $to; $at += 4096) { $node{$at} = "$mode $nodes"; }
		}
		my ($n, $bad) = (0, 0);
		for (my $at = hex($start) & ~4095; $at < hex $end; $at += 4096) {
			$n++;
			$bad++ if !defined $node{$at} || $node{$at} ne "1 " . (1 << $memory);
		}
		print "$bad of $n pages of $start are not on memory $memory\n" if $bad > $n / 50 || $n == 0;
	' mbind.log "$@"
}

memory_of_thread() { sed -n "s/^run thread $1 on memory \([0-9]*\).*/\1/p" x.place; }

# Threads of one block are together, and the block is with them, in the run by the placement.
blocks_are_placed() {
	local block first second start end
	for block in 0 1; do
		read -r first second < <(sed -n "s/^thread \([0-9]*\) $block .*/\1/p" placed | tr '\n' ' ')
		[ "$(memory_of_thread "$first")" = "$(memory_of_thread "$second")" ] ||
			echo "threads $first and $second of block $block are apart"
		read -r start end < <(sed -n "s/^block $block \(.*\)/\1/p" placed)
		is_bound "$start" "$end" "$(memory_of_thread "$first")"
	done
}
threads_are_bound() {
	local number memory processors
	while read -r number processors; do
		memory=$(memory_of_thread "$number")
		[ "$processors" = "$memory" ] || echo "thread $number may run on '$processors', not $memory"
	done < <(sed -n 's/^thread \([0-9]*\) [0-9]* \(.*\)/\1 \2/p' placed)
}
blocks() { grep '^block' "$1" >"$1.blocks"; }

# whole_way NAME PROGRAM ARGUMENT
whole_way() {
	local name=$1
	shift
	record "$@"
	check "$name is recorded" "$(status_is 0)" "$(make_placement)" \
		"$(is_at_least "$(grep -c '^block' recorded)" 2 blocks)"
	check "$name: what is predicted is what counting gives" \
		"$(perl -e 'my ($a, $b) = @ARGV; print "$a, not $b\n" if abs($a - $b) > 1e-9 || $b < 0.7' \
			"$(predicted_share)" "$(naive_share)")"
	apply "$@"
	blocks recorded && blocks placed
	check "$name lies where it lay" "$(status_is 0)" "$(is_silent)" "$(is_same recorded.blocks placed.blocks)"
	check "$name: blocks are where their threads run" "$(blocks_are_placed)"
	if [ "$(taskset -pc $$ | sed 's/.*: //; s/-/,/')" = 0,1 ]; then
		check "$name: threads run on their processors" "$(threads_are_bound)"
	else
		number=$((number + 1))
		echo "ok $number - $name: threads run on their processors # SKIP needs the processors 0 and 1"
	fi
}

whole_way "a C program" "$program" 1500
if g++ -O1 -g -o vectors "$here/handed_over_vectors.cpp" -pthread 2>err; then
	whole_way "a C++ program" ./vectors 1500
else
	number=$((number + 1))
	echo "ok $number - a C++ program # SKIP no compiler of C++"
fi

# A real one. It says nothing of its addresses: what it is bound to is what was predicted.
seq 150000 | sort -R --random-source=<(yes) >numbers
real() {
	local name=$1
	shift
	record "$@"
	"$@" >plain
	check "$name is recorded" "$(status_is 0)" "$(make_placement)" "$(is_same plain recorded)"
	check "$name: what is predicted is what counting gives" \
		"$(perl -e 'my ($a, $b) = @ARGV; print "$a, not $b\n" if abs($a - $b) > 1e-9 || $b <= 0' \
			"$(predicted_share)" "$(naive_share)")"
	apply "$@"
	check "$name does the same when it is placed" "$(status_is 0)" "$(is_same plain placed)" \
		"$(is_at_least "$(wc -l <mbind.log)" 1 "calls of mbind()")"
}
real sort sort -n --parallel=2 -S 32M numbers
if command -v xz >/dev/null; then
	real xz xz -1 -T2 --block-size=512KiB -c numbers
fi

echo "1..$number"
