#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Profiles of one program that is built with one known change each, compared. Executions are counted,
# so that most figures are exact; the change of a sampled time is a large one. Prints TAP; skips
# where there is no compiler or QEMU.
#
#   tests/e2e/diff.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work
needs gcc python3 qemu-x86_64
needs_sampling

# build NAME OPTION…, and counted NAME: its profile NAME.lode.
build() {
	local name=$1
	shift
	gcc -g -O2 -o "$name" "$@" "$here/changed_program.c"
}
counted() { "$lode" run --exact --fast -o "$1.lode" -- "./$1" 2000 >out 2>err || cat err; }

build same
build often -DTIMES=2
build divide -DDIVIDE
build renamed -DRENAMED
build removed -DREMOVED
build stripped -s
for name in same often renamed removed stripped; do counted $name; done
cp same.lode first.lode
counted same

# compared OPTION…: writes ./out, sets $status.
compared() {
	"$lode" diff "$@" >out 2>err
	status=$?
}
# of PYTHON: what it prints of the comparison, with `rows(kind)`, `row(kind, text)`, `told(kind)`.
of() {
	python3 - "$1" <<'END'
import json, sys
one = json.load(open("out"))["comparisons"][0]
def rows(kind): return one[kind]["rows"]
# A thousand executions: what the C library does before main() depends on the program's name.
def told(kind): return [r for r in rows(kind) if r["is_told"] and abs(r["change"]) > 1000]
def row(kind, text):
	found = [r for r in rows(kind) if r["text"] == text]
	return found[0] if found else {}
def is_near(a, b, share): return abs(a - b) <= share * abs(b)
if not eval(sys.argv[1]):
	print("not so:", sys.argv[1])
END
}

echo 1..14

# What the C library does before main() depends on the length of the program's name.
compared first.lode same.lode --images '/same$'
check "the same program twice: no line at all" "$(status_is 0)" "$(grep -E '^ *[+−][0-9]' out)"

compared same.lode often.lode --by functions,lines,patterns --format json
check "a loop that runs twice as often" "$(status_is 0)" \
	"$(of 'row("functions", "often")["change"] == row("functions", "often")["more_often"] > 0')" \
	"$(of 'is_near(row("functions", "often")["new"]["executed"], 2 * row("functions", "often")["base"]["executed"], 0.01)')" \
	"$(of '[r["text"] for r in told("functions")] == ["often"]')" \
	"$(of 'all(r["new"]["function"] == "often" for r in told("lines"))')"

compared same.lode renamed.lode --by functions --format json
check "a function with another name is the same" "$(status_is 0)" \
	"$(of 'row("functions", "under_another_name")["was"] == "under_one_name"')" \
	"$(of 'row("functions", "under_another_name")["match"] == "renamed"')" "$(of 'not told("functions")')"

compared same.lode removed.lode --by functions --format json
check "a function that is not there any more" "$(status_is 0)" \
	"$(of 'row("functions", "left_out")["match"] == "gone"')" \
	"$(of 'row("functions", "left_out")["new"]["time"] == 0')" \
	"$(of '[r["text"] for r in told("functions")] == ["left_out"]')"

compared removed.lode same.lode --by functions --format json
check "and one that is new" "$(of 'row("functions", "left_out")["match"] == "new"')"

compared same.lode stripped.lode --by functions --format json
check "functions without names are matched by their code" "$(status_is 0)" \
	"$(of 'sum(r["was"] in ("often", "dearly", "under_one_name", "left_out") for r in rows("functions")) == 4')" \
	"$(of 'not told("functions")')"

"$lode" run --count --fast -o shift.lode -- ./same 100000 >out 2>err
"$lode" run --count --fast -o divide.lode -- ./divide 100000 >out 2>err
compared shift.lode divide.lode --format json
division=$(sed -n '/ \/ by /=' "$here/changed_program.c")
check "a division in place of a shift: each costs more" "$(status_is 0)" \
	"$(of 'row("functions", "dearly")["is_told"]')" \
	"$(of 'row("functions", "dearly")["costs_more"] > 2 * row("functions", "dearly")["more_often"]')" \
	"$(of 'row("lines", "changed_program.c:'"$division"'")["is_told"]')" \
	"$(of 'any("div" in r["text"] and r["is_told"] for r in rows("places") + rows("patterns"))')"
compared shift.lode divide.lode --by functions --fail-above 50
check "slower by more than half: status 3" "$(status_is 3)" "$(grep -q 'slower: function dearly' err || cat err)"

"$lode" run -F 10000 -o sampled.lode -- ./same 100000 >out 2>err
"$lode" run -F 10000 -o often_sampled.lode -- ./often 100000 >out 2>err
compared sampled.lode often_sampled.lode --format json --by functions
check "by samples alone" "$(status_is 0)" "$(of 'row("functions", "often")["is_told"]')" \
	"$(of 'row("functions", "often")["change"] > 0.4 * row("functions", "often")["base"]["time"]')" \
	"$(of 'row("functions", "often")["more_often"] is None')"
compared sampled.lode sampled.lode --normalise executions
check "executions that were not counted cannot be divided by" "$(status_is 1)" \
	"$(grep -q 'were not counted' err || cat err)"
compared sampled.lode sampled.lode
check "the error of no change has a unit" "$(status_is 0)" "$(grep -qE '^In all 0 ±[0-9.]+ (s|ms|µs|ns)\.$' out || cat out)"

# Both have a main().
for name in adds divides; do
	sign=+
	[ $name = adds ] || sign=/
	echo "int main(void) { volatile unsigned n = 3; for (int i = 0; i < 3000000; i++) n = 90000 $sign (n | 1); return 0; }" >$name.c
	gcc -g -O1 -o $name $name.c
	"$lode" run --exact --fast -o $name.lode -- ./$name >out 2>err
done
compared adds.lode divides.lode
check "programs that are different are said to be, and promise nothing" "$(status_is 0)" \
	"$(head -1 out | grep -q '^These are profiles of different programs, adds and divides: ' || head -1 out)" \
	"$(grep promised out)"

# What is compared is the last recording with the one that it replaced.
mkdir again
cd again || exit 1
"$lode" run -F 10000 -- ../same 100000 >out 2>err
compared
check "a program that was recorded once has nothing to be compared with" "$(status_is 2)" \
	"$(grep -q 'same.lode is the only recording of its program' err || cat err)"
"$lode" run -F 10000 -- ../often 100000 >out 2>err
"$lode" run -F 10000 -o same.lode -- ../often 100000 >out 2>err
touch -d 2001-01-01 often.lode
compared
check "lode diff alone: the last recording and the one before, processor time first" "$(status_is 0)" \
	"$(head -1 out | grep -qE '^Processor time [0-9.]+ → [0-9.]+ s, [0-9.]+ ×: user [0-9.]+ → [0-9.]+, kernel .*; wall [0-9.]+ → [0-9.]+ s, [0-9.]+ ×\.$' || head -1 out)" \
	"$(grep -q '^base same.lode.old ' out || cat out)" "$(grep -q '^new  same.lode ' out || cat out)" \
	"$(grep -qE '^ *\+[0-9].*  often$' out || cat out)"
cd ..
