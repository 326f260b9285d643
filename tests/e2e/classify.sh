#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode classify` says of a program that does two kinds of work in shares that its counts tell, and
# of one with a third kind that no signature has. Prints TAP; skips without qemu or gcc.
#
#   tests/e2e/classify.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
needs gcc python3 sqlite3 qemu-x86_64
gcc -O1 -g -fno-tree-vectorize -o work "$here/known_work.c" 2>err || skip "it does not compile"

# count NAME SORTS PRODUCTS HASHES, into NAME.lode.
count() {
	"$lode" run --exact --fast --min-support 50% --report /dev/null -o "$1.lode" -- ./work "${@:2}" \
		>out 2>err || skip "it cannot be counted: $(tail -n 1 err)"
}
classify() {
	"$lode" classify "$@" --signatures known --format json >x.json 2>err
	status=$?
}
# field EXPRESSION: of x.json, with `d` the document and share(NAME).
field() {
	python3 - "$1" <<'PYTHON'
import json, sys
d = json.load(open("x.json"))
share = lambda name: next(m["share"] for m in d["signatures"] if m["signature"] == name)
print(eval(sys.argv[1]))
PYTHON
}
is() { [ "$(field "$1")" = "$2" ] || echo "$1 is $(field "$1"), not $2"; }
# The share of the executions in a function, in percent.
share_of() {
	sqlite3 "$1.lode" "SELECT 100 * total(i.count) / (SELECT total(count) FROM instruction)
		FROM instruction i JOIN function f ON f.id = i.function WHERE f.name = '$2'"
}
is_near() {
	awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a - b <= by && b - a <= by) }' ||
		echo "$1, not near $2"
}

echo 1..10

mkdir known
count a1 40 0 0 && count a2 70 0 0 && count b1 0 50 0 && count b2 0 90 0
"$lode" signature a1.lode a2.lode --name sorts -o known/sorts.sig 2>err &&
	"$lode" signature b1.lode b2.lode --name products -o known/products.sig 2>err
status=$?
check "two signatures" "$(status_is 0)" "$(grep -q '^profiles 2$' known/sorts.sig || echo "not of two")"

count x 55 0 0
classify x.lode
check "work of one kind" "$(status_is 0)" "$(is 'd["verdict"]' known)" "$(is 'd["workload"]' sorts)" \
	"$(is 'share("sorts") > 0.95' True)" "$(is 'd["has_rest"]' False)"

count x 30 60 0
classify x.lode
check "two kinds in shares that are known" "$(is 'd["verdict"]' mixture)" \
	"$(is_near "$(field '100 * share("sorts")')" "$(share_of x sort)" 4)" \
	"$(is_near "$(field '100 * share("products")')" "$(share_of x multiply)" 4)" \
	"$(is 'd["has_rest"]' False)"

count x 55 0 25
classify x.lode
check "a routine that no signature has is the rest, and its place" "$(is 'd["has_rest"]' True)" \
	"$(is 'd["places"][0]["function"]' hash)" "$(is 'len(d["places"])' 1)" \
	"$(is_near "$(field '100 * d["rest_placed"]')" "$(share_of x hash)" 2)"

"$lode" classify x.lode --signatures known >text 2>err
status=$?
command=$(sed -n 's/^see: lode //p' text)
eval "\"$lode\" $command" >code 2>>err
check "what annotate takes is said" "$(status_is 0)" "$(grep -q 'hash' code || cat text)"

count x 0 0 60
classify x.lode
check "work of no kind that is known" "$(is 'd["verdict"]' none)" "$(is 'd["rest_placed"] > 0.9' True)"

# A library that the program is linked with takes too little to be told from what inputs differ by, if its
# file were known.
cat >foreign.c <<'END'
#include <stdint.h>
volatile uint32_t found;
__attribute__((constructor)) static void mine(void)
{
	uint32_t a = 1, b = 0x6a09e667;
	for (uint32_t i = 0; i < 4000; i++) {
		a = ((a >> 6 | a << 26) ^ (a >> 11 | a << 21)) + (~a & b) + i;
		b = (b << 3 | b >> 29) ^ a;
	}
	found = a ^ b;
}
END
gcc -O1 -shared -fPIC -Wl,--build-id foreign.c -o libforeign.so 2>err || skip "it does not compile"
gcc -O1 -g -fno-tree-vectorize -o work2 "$here/known_work.c" -Wl,--no-as-needed,-rpath,"$PWD" \
	./libforeign.so 2>err || skip "it does not compile"
mv work first && mv work2 work
count x 55 0 0
mv first work
classify x.lode
check "a little code of a file that no signature has" "$(is 'd["has_rest"]' True)" \
	"$(is 'd["rest_placed"] < 0.02' True)" "$(is 'd["workload"]' sorts)" \
	"$(is 'd["places"][0]["image"].endswith("libforeign.so")' True)"

head -n 20 known/sorts.sig >known/cut.sig
classify x.lode
check "a signature that was cut short" "$(status_is 1)" \
	"$(grep -q 'known/cut.sig: line 20: the file ends, expected a sequence: it was cut short' err || cat err)"

# From samples: the kinds one after the other, in one recording.
rm known/cut.sig
run() { "$lode" run -F 10000 --once --report /dev/null -o "$1.lode" -- ./work "${@:2}" >out 2>err; }
record_kinds() {
	run a 3000 0 0 && run b 0 3000 0 &&
		"$lode" signature a.lode --name sorts --units 3000 -o known/sorts.sig 2>err &&
		"$lode" signature b.lode --name products --units 3000 -o known/products.sig 2>err &&
		"$lode" record -o x.data -- ./work 3000 3000 0 >out 2>err &&
		"$lode" record -o long.data -- ./work 15000 15000 0 >out 2>err
}
if ! record_kinds; then
	for n in 9 10; do echo "ok $n # SKIP sampling is not allowed here"; done
	exit 0
fi
"$lode" classify long.data --signatures known --over-time --slices 8 --format json >x.json 2>err
status=$?
# Long, as a slice in which a busy machine leaves too few samples has no verdict. How slices are cut
# among the phases is chance; the first with samples is of the first one.
check "phases over time" "$(status_is 0)" "$(python3 - <<'PYTHON'
import json
slices = [s for s in json.load(open("x.json"))["slices"] if s["verdict"] is not None]
if not slices or slices[0]["shares"]["sorts"] < 0.7:
    print("the first slice sorts not:", slices[:1])
if not slices or slices[-1]["shares"]["products"] < 0.7:
    print("the last slice multiplies not:", slices[-1:])
PYTHON
)"

# Elapsed is what makes the rate known: 3000 of each in a minute of one processor.
"$lode" import x.data -o x.lode >out 2>err
"$lode" classify x.lode --signatures known --capacity --elapsed 60 --processors 1 --format json >x.json 2>err
status=$?
check "capacity by known work, within what a busy machine leaves of it" "$(status_is 0)" \
	"$(is '[10 < row["rate"] < 250 for row in d["capacity"]["rows"] if row["signature"]]' '[True, True]')" \
	"$(is 'd["capacity"]["used"] < 0.2' True)"
