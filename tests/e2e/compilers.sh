#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Profiles for compilers, of a program whose branches are known, counted and sampled: what is in them,
# what llvm-profdata and the compilers make of them, and which recordings are refused. Prints TAP; skips
# where there is no gcc or no qemu.
#
#   tests/e2e/compilers.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work
needs gcc python3 qemu-x86_64
cp "$here/known_branches.c" .

# export_as FORMAT PROFILE OUTPUT [OPTION…]
export_as() {
	local format=$1 profile=$2 output=$3
	shift 3
	"$lode" export "$profile" --format "$format" -o "$output" "$@" >out 2>err
	status=$?
}

# count NAME: counts NAME's executions exactly into NAME.lode.
count() { "$lode" run --exact -o "$1.lode" -- "./$1" 100000 >out 2>err; }

# lines FILE FUNCTION: "place count" of the function's own lines and "place callee/place count" of inlined ones.
lines() {
	awk -v wanted="$2" '
		/^[^ ]/ { inside = index($0, wanted ":") == 1; next }
		!inside { next }
		/^  / { print called "/" $1 " " $2; next }
		$2 ~ /^[^0-9]/ { split($2, parts, ":"); called = $1 parts[1]; next }
		{ print $1 " " $2 }' "$1" | tr -d ':'
}

# has FILE FUNCTION LINE: one of these lines.
has() { lines "$1" "$2" | grep -qxE -- "$3" || echo "no line '$3' in $2: $(lines "$1" "$2" | tr '\n' ';')"; }

# choose() begins in line 0: the loop in 2, the branch in 3, often() in 4, seldom() in 6.
has_counts() {
	has "$1" choose '4(\.[0-9]+)? 90000'
	has "$1" choose '6(\.[0-9]+)?seldom/2(\.[0-9]+)? 10000'
	has "$1" often '2 90000'
	grep -qE '^often:[0-9]+:90000$' "$1" || echo "often() was not entered 90000 times"
	grep -qE '^ 4(\.[0-9]+)?: 90000 often:90000$' "$1" || echo "no call of often()"
}

echo 1..15

gcc -g -O2 known_branches.c -o counted
count counted
export_as autofdo counted.lode gcc.prof
check "text of what gcc compiled has the counts" "$(status_is 0)" "$(has_counts gcc.prof)"
export_as autofdo-gcc counted.lode counted.afdo
check "gcc takes its form, and says nothing" "$(status_is 0)" \
	"$(gcc -O2 -g -Wall -fauto-profile=counted.afdo -c known_branches.c -o gcc.o 2>&1)"

# The branch of choose() to often() is the likely one: nine to one in the compiler's own dump.
weighs_often() {
	gcc -O2 -g -fauto-profile=counted.afdo -fdump-tree-optimized=dump -c known_branches.c -o gcc.o 2>>err
	local often seldom
	read -r often seldom < <(python3 - dump <<'END'
import re, sys
text = open(sys.argv[1]).read()
body = text[text.index(";; Function choose"):]
body = body[:body.index("\n}")]
shares = [float(x) for x in re.findall(r"\[([0-9.]+)%\]", body)]
print(max(x for x in shares if x < 95), min(shares))
END
	)
	[ "${often%.*}" -ge 88 ] && [ "${often%.*}" -le 92 ] || echo "goes to often() in $often %, else $seldom %"
}
check "gcc weighs the branch by them" "$(weighs_often)"

if command -v clang >/dev/null; then
	clang -g -fdebug-info-for-profiling -O2 known_branches.c -o clanged
	count clanged
	export_as autofdo clanged.lode clang.prof
	check "text of what clang compiled has the counts" "$(status_is 0)" "$(has_counts clang.prof)"
	check "clang reads it, and says nothing" \
		"$(clang -O2 -g -Wall -fprofile-sample-use=clang.prof -c known_branches.c -o clang.o 2>&1)"
	clang -O2 -g -fprofile-sample-use=clang.prof -S -emit-llvm known_branches.c -o clang.ll 2>>err
	weights=$(python3 - clang.ll <<'END'
import re, sys
text = open(sys.argv[1]).read()
ratios = [max(a, b) / min(a, b) for a, b in
          ((int(x), int(y)) for x, y in re.findall(r'"branch_weights", i32 (\d+), i32 (\d+)', text)) if min(a, b) > 0]
print("" if any(8.5 < ratio < 9.5 for ratio in ratios) else f"weights {ratios}")
END
	)
	check "clang weighs the branch by them" "$weights"
	check "clang has the number of entries" \
		"$(grep -qE '"function_entry_count", i64 9000[01]' clang.ll || echo "not of often()")"
else
	for case in "text of what clang compiled" "clang reads it" "clang weighs by it" "entries"; do
		check "$case # SKIP there is no clang"
	done
fi
if command -v llvm-profdata >/dev/null; then
	check "llvm-profdata reads the text, and writes it as binary" \
		"$(llvm-profdata merge --sample --extbinary gcc.prof -o gcc.extbinary 2>&1)" \
		"$(llvm-profdata show --sample gcc.extbinary >shown 2>&1; grep -q '^Function: often: 270000, 90000' shown || head -c 300 shown)"
else
	check "llvm-profdata # SKIP there is none"
fi

# The copies that compilers make of functions are of the one in the source.
cat >copies.c <<'END'
#include <stdio.h>
__attribute__((noinline)) static int scale(int x, int by)
{
	for (int i = 0; i < 10; i++)
		__asm__ volatile("" : "+r"(x));
	return x * by;
}
int main(int argc, char **argv)
{
	int sum = 0;
	(void)argv;
	for (int i = 0; i < 1000; i++)
		sum += scale(i + argc, 7);
	printf("%d\n", sum);
	return 0;
}
END
gcc -g -O3 copies.c -o copies
count copies
export_as autofdo copies.lode copies.prof
check "copies of functions are the function that they are of" "$(status_is 0)" \
	"$(nm copies | grep -q 'scale\.' || echo "there is no copy")" \
	"$(grep -qE '^scale:[0-9]+:1000$' copies.prof || grep scale copies.prof)" \
	"$(grep -q 'scale\.' copies.prof && echo "the copy's name")"

# BOLT: branches by address.
gcc -g -O2 -Wl,-q known_branches.c -o linked
count linked
export_as bolt linked.lode linked.branches
check "branches by address have the counts" "$(status_is 0)" \
	"$([ "$(grep -c ' 90000 0$' linked.branches)" -eq 2 ] || echo "no call of often() and return, 90000 times")" \
	"$(grep -qE '^[BF] [0-9a-f]+ [0-9a-f]+ 10000' linked.branches || echo "no way to seldom(), 10000 times")"
perf2bolt=$(command -v perf2bolt || find /usr/lib/llvm-*/bin -name perf2bolt 2>/dev/null | tail -n 1)
if [ -n "$perf2bolt" ]; then
	"$perf2bolt" linked -p linked.branches -pa -o linked.fdata >bolted 2>&1
	check "perf2bolt reads them, and all are of its code" \
		"$(grep -q 'mismatching disassembled function contents: 0 ' bolted || tail -n 5 bolted)" \
		"$(grep -qE '^1 choose [0-9a-f]+ 1 often 0 0 90000$' linked.fdata || echo "no call of often(), 90000 times")"
else
	check "perf2bolt reads them # SKIP there is none"
fi

gcc -O2 known_branches.c -o bare
count bare
export_as autofdo bare.lode bare.prof
check "without debug information it is refused" "$(status_is 1)" \
	"$(grep -q 'bare: no debug information of what was executed: compile with -g' err || cat err)"
cp counted kept
gcc -g -O1 known_branches.c -o counted
export_as autofdo counted.lode other.prof
check "another build is refused" "$(status_is 1)" "$(grep -q 'counted: .*build-id' err || cat err)" \
	"$([ ! -e other.prof ] || echo "there is a file")"
rm counted
export_as autofdo-gcc counted.lode other.afdo
check "a program that is gone is refused" "$(status_is 1)" "$(grep -q counted err || cat err)"
mv kept counted
export_as autofdo counted.lode named.prof --binary libnone.so
first="$(status_is 1)$(grep -q "no code of 'libnone.so'" err || cat err)"
export_as autofdo counted.lode named.prof --binary counted
check "a binary is chosen by its name" "$first" "$(status_is 0)" "$(has_counts named.prof)"
