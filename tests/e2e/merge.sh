#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode merge` makes of a program whose executions are known: run with two numbers, counted, and
# added up; taken apart again; and mined by origin. Prints TAP; skips where nothing can be counted, or
# there is no compiler.
#
#   tests/e2e/merge.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs gcc qemu-x86_64

cat >work.c <<'END'
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) void shared(unsigned n) { while (n--) sink += n; }
__attribute__((noinline)) void only_second(void) { for (int i = 0; i < 50; i++) sink ^= 1; }
int main(int argc, char **argv)
{
	shared((unsigned)atoi(argv[1]));
	if (argc > 2)
		only_second();
	return 0;
}
END
gcc -O1 -g -Wl,--build-id work.c -o work 2>err || skip "gcc makes no program"
gcc -O1 -g -Wl,--build-id=none work.c -o nameless 2>err || skip "gcc makes no program"

# count PROFILE PROGRAM ARGUMENT…
count() {
	local profile=$1
	shift
	"$lode" run --exact --fast -o "$profile" -- "$@" >out 2>err
}

# graph PROFILE FUNCTION: its vertices and edges, without what says who executed them
graph() {
	"$lode" export "$1" 2>>err | awk -v name="$2" '$1 == "graph" { is = $2 == name } is' |
		sed -E 's/ origin:[^ ]+//g; /^$/d'
}

# most PROFILE FUNCTION: the executions of what it executes most
most() { graph "$1" "$2" | awk '$1 == "v" && $4 > most { most = $4 } END { print most + 0 }'; }

is() { [ "$1" = "$2" ] || echo "$3: $1, not $2"; }

count first.lode ./work 1000 || skip "$(tail -n 1 err)"
count second.lode ./work 30 more
echo 1..9

"$lode" merge first.lode second.lode -o all.lode >out 2>err
status=$?
check "executions are added" "$(status_is 0)" "$(is "$(most all.lode shared)" 1030 shared)" \
	"$(is "$(most all.lode only_second)" 50 only_second)" \
	"$(grep -q '2 origins$' out || cat out)"

"$lode" info all.lode >out 2>err
status=$?
check "each run stays as an origin" "$(status_is 0)" \
	"$(grep -qE "^  first .*process [0-9]+, 20.*\./work 1000" out || echo "no first")" \
	"$(grep -qE "^  second .*\./work 30 more" out || echo "no second")"

"$lode" merge all.lode --origin 'sec*' -o part.lode >out 2>err
status=$?
graph part.lode shared >found
graph second.lode shared >expected
check "and is taken out again" "$(status_is 0)" "$(is "$(most part.lode shared)" 30 shared)" \
	"$(holds cmp expected found)" "$(is "$(grep -c '^v' expected | awk '$1 > 3 { print "many" }')" many vertices)"

"$lode" mine all.lode --attributes op,origin --min-support 0.001 >out 2>err
status=$?
"$lode" report all.lode --all --with origin:first --format csv --limit 100000 >of_first 2>>err
"$lode" report all.lode --all --with origin:second --format csv --limit 100000 >of_second 2>>err
check "an attribute says who executed" "$(status_is 0)" \
	"$(grep -q 'origin:first' of_first || echo "nothing of first")" \
	"$(grep -q 'origin:second' of_second || echo "nothing of second")"

"$lode" report all.lode --origin second >of_part 2>err
status=$?
"$lode" report all.lode --origin 1 >of_other 2>>err
"$lode" info part.lode >contents 2>>err
executions=$(awk '$1 == "executions" { print $2; exit }' contents)
check "a report is of some origins" "$(status_is 0)" \
	"$(head -n 1 of_part | grep -q '^\./work 30 more ' || head -n 1 of_part)" \
	"$(head -n 1 of_other | grep -q '^\./work 1000 ' || head -n 1 of_other)" \
	"$(grep -q " ${executions:-none} executions" of_part || echo "not $executions")" \
	"$("$lode" annotate all.lode function only_second --origin second --format csv 2>>err |
		grep -q ',50,' || echo "no 50 executions")" \
	"$("$lode" annotate all.lode function shared --origin 1 --format csv 2>>err |
		grep -q ',1000,' || echo "no 1000 executions")"

"$lode" mine all.lode --origin second --attributes op --min-support 0.001 --name part >out 2>err
status=$?
"$lode" mine part.lode --attributes op --min-support 0.001 >>out 2>>err
for profile in all part; do
	"$lode" report $profile.lode --all --format csv --limit 100000 2>>err | cut -d, -f2- >of_$profile
done
"$lode" info all.lode >contents 2>>err
"$lode" report all.lode --origin third >none 2>refusal
# The page is of the whole; without a page there is another refusal.
"$lode" report all.lode part --html part.html >none 2>page
check "a run is, and says so" "$(status_is 0)" "$(holds cmp of_all of_part)" \
	"$(is "$(wc -l <of_part | awk '$1 > 20 { print "many" }')" many sequences)" \
	"$(grep -q -- '--origin second' contents || echo "lode info does not say so")" \
	"$(grep -q "no origin has the name, host or number 'third'" refusal || cat refusal)" \
	"$(grep -Eq "is of a part of the profile|built without" page || cat page)"

count nameless.lode ./nameless 10
count again.lode ./nameless 20
"$lode" merge nameless.lode again.lode -o wrong.lode >out 2>err
status=$?
check "without a build-id it says what to do" "$(status_is 1)" \
	"$(grep -q "nameless' has no build-id.*--same-paths" err || echo "no way out")" \
	"$(holds [ ! -e wrong.lode ])"
"$lode" merge --same-paths nameless.lode again.lode -o right.lode >out 2>err
status=$?
cp first.lode copy.lode
"$lode" merge first.lode copy.lode -o wrong.lode 2>twice
check "and does it; no run is added twice" "$(status_is 0)" "$(is "$(most right.lode shared)" 30 shared)" \
	"$(grep -q 'copy.lode: it is the same profile as first.lode' twice || cat twice)"

# folded PROFILE: what its call stacks weigh, and that of those in shared().
folded() {
	"$lode" export --format folded "$1" 2>>err |
		awk '{ all += $NF } /;shared / { own += $NF } END { printf "%.0f %.0f\n", all, own }'
}
for i in 1 2; do
	"$lode" run -F 10000 -g -o "sampled$i.lode" -- ./work 50000000 >out 2>err || sampled=no
done
if [ "${sampled:-}" = no ]; then
	echo "ok 9 # SKIP $(tail -n 1 err)"
	exit
fi
"$lode" merge sampled1.lode sampled2.lode -o sampled.lode >out 2>err
status=$?
read -r first first_own < <(folded sampled1.lode)
read -r second second_own < <(folded sampled2.lode)
read -r all all_own < <(folded sampled.lode)
check "call stacks are added" "$(status_is 0)" "$(is "$all" $((first + second)) "all stacks")" \
	"$(is "$all_own" $((first_own + second_own)) "those in shared()")" "$(holds [ "$all_own" -gt 0 ])"
