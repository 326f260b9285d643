#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Who calls functions of libraries, of a program where this is known: by the recorded top of the
# stack, by whole stacks, by counted and by inferred calls. Prints TAP; skips where the kernel lets
# nobody sample, or there is no compiler.
#
#   tests/e2e/services.sh LODE PROGRAMS      PROGRAMS: the folder of known_services.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$(realpath "$2")
begin "$1"
export HOME=$work

needs python3
needs_sampling
build() { gcc -g -O2 -fno-builtin "$programs/known_services.c" "$@" -lm 2>err; }
build -o dynamic || skip "there is no gcc"
build -static -o static || rm -f static

# tells FROM SERVICE OFTEN SELDOM [LEAST]: of the service (its name, or its family's with a star),
# callers are known by FROM; two have all of it, the first 70 %, and it has at least LEAST % of all.
tells() {
	"$lode" report x.lode --functions --limit 1 --format json 2>>err >out
	python3 - "$@" <<-'END'
		import json, sys
		source, name, often, seldom = sys.argv[1:5]
		least = float(sys.argv[5]) if len(sys.argv) > 5 else 50
		out = json.load(open("out"))
		if out["services_from"] != source:
		    print("known from", out["services_from"])
		total = out["profile"]["weight"]
		for one in out["services"]:
		    is_family = "function" not in one
		    if (one["family"] + "*" if is_family else one["called"]) == name:
		        break
		else:
		    sys.exit(f"no service {name}")
		if one["inclusive"] < least / 100 * total:
		    print(f"{name}: {100 * one['inclusive'] / total:.1f} % of all")
		of = {caller: sum(row["weight"] for row in one["callers"] if row["function"] == caller)
		      for caller in (often, seldom)}
		known = sum(of.values())
		if known < 0.97 * one["inclusive"]:
		    print(f"{name}: of {one['inclusive']} only {of} by the two callers")
		if not 0.62 < of[often] / max(known, 1) < 0.78:
		    print(f"{name}: {of} is not 70:30")
		if source != "inferred" and not all(
		        row["file"].endswith("known_services.c") and row["line"] > 0
		        for row in one["callers"] if row["function"] in of):
		    print("callers without lines")
	END
}

# top PROGRAM MODE ROUNDS: with registers and the first bytes of the stack.
top() {
	"$lode" memory record -F 4000 --no-page-faults -o x.lode -- "./$1" "$2" "$3" >out 2>err
	status=$?
}

cases=(strlen malloc pow sort)
echo 1..12
for mode in "${cases[@]}"; do
	top dynamic "$mode" "$([ "$mode" = sort ] && echo 4000 || echo 30000)"
	case $mode in
	malloc)
		check "by the top of the stack: $mode" "$(status_is 0)" \
			"$(tells tops 'allocator*' malloc_often malloc_seldom)" \
			"$(tells tops malloc malloc_often malloc_seldom 10)"
		;;
	sort)
		# by_name() is the user's, and calls strcmp().
		check "by the top of the stack: what is called back" "$(status_is 0)" \
			"$("$lode" report x.lode --functions --limit 1 2>>err | grep -E 'strcmp +by_name known_services.c:[0-9]+ \(all of it\)' >/dev/null || echo "strcmp is not by_name's")"
		;;
	*)
		check "by the top of the stack: $mode" "$(status_is 0)" \
			"$(tells tops "$mode" "${mode}_often" "${mode}_seldom")" \
			"$([ "$mode" = pow ] || "$lode" report x.lode 2>>err | grep -E "from ${mode}_often" >/dev/null || echo "not on the first screen")"
		;;
	esac
done

# called_by NAME: the callers of a function, of which one has 70 %.
called_by() {
	"$lode" report x.lode --callers "$1" --format json 2>>err >out
	python3 - 2>&1 <<-'END'
		import json
		of = {row["name"]: row["weight"] for row in json.load(open("out"))["callers"]}
		known = of.get("bare_often", 0) + of.get("bare_seldom", 0)
		if known < 0.97 * sum(of.values()) or not 0.62 < of.get("bare_often", 0) / known < 0.78:
		    print(of)
	END
}

if [ "$(uname -m)" = x86_64 ]; then
	top dynamic bare 10000
	check "by the top of the stack: code without unwind tables" "$(status_is 0)" \
		"$(called_by bare_leaf)" "$(called_by bare_framed)"
else
	check "by the top of the stack: code without unwind tables # SKIP another machine"
fi

if [ -x static ]; then
	top static malloc 30000
	check "by the top of the stack, static" "$(status_is 0)" \
		"$(tells tops 'allocator*' malloc_often malloc_seldom)"
else
	check "by the top of the stack, static # SKIP there is no static C library"
fi

# V8's builtins have no unwind tables. Calls in the first tenths of a second are its start.
cat >properties.js <<'END'
"use strict";
const all = {};
for (let i = 0; i < 40; i++) all["k" + i] = i;
delete all.k3;
function often(n) { let sum = 0; for (let i = 0; i < 7 * n; i++) sum += all.k1 + all.k7; return sum; }
function seldom(n) { let sum = 0; for (let i = 0; i < 3 * n; i++) sum += all.k1 + all.k7; return sum; }
let sum = 0;
for (let i = 0; i < 3000; i++) { sum += often(1000); sum += seldom(1000); }
console.log(sum);
END
if command -v node >/dev/null && "$lode" memory record -F 4000 --no-page-faults -o x.lode -- node properties.js >out 2>err; then
	status=0
	"$lode" report x.lode --functions --limit 1 --format json >out 2>>err
	check "by the top of the stack: V8's look-ups" "$(python3 - 2>&1 <<-'END'
		import json
		for one in json.load(open("out"))["services"]:
		    if one["family"] == "look-ups" and "function" not in one:
		        of = {name: sum(row["weight"] for row in one["callers"] if name in row["function"])
		              for name in ("often", "seldom")}
		        if sum(of.values()) < 0.9 * one["inclusive"] or \
		                not 0.6 < of["often"] / sum(of.values()) < 0.8:
		            print(one["inclusive"], of)
		        break
		else:
		    print("no look-ups")
	END
	)"
else
	check "by the top of the stack: V8's look-ups # SKIP node cannot be recorded"
fi

"$lode" memory record -F 4000 --no-page-faults --call-graph dwarf,4096 -o x.lode -- ./dynamic print 40000 >out 2>err
status=$?
check "by whole stacks: print" "$(status_is 0)" "$(tells stacks snprintf print_often print_seldom)"
"$lode" memory record -F 4000 --no-page-faults --call-graph dwarf,8192 -o x.lode -- ./dynamic sort 4000 >out 2>err
status=$?
check "by whole stacks: sort has what it calls back" "$(status_is 0)" \
	"$(tells stacks qsort_r sort_often sort_seldom 80)"

"$lode" run --exact --fast -o x.lode -- ./dynamic malloc 30 >out 2>err
status=$?
check "by counted calls" "$(status_is 0)" "$(tells calls malloc malloc_often malloc_seldom 10)"

# With few samples of the callers the numbers of calls are rough, but not who calls.
"$lode" record -F 4000 -e cpu-clock:u -o x.data -- ./dynamic malloc 30000 >out 2>err &&
	"$lode" import x.data -o x.lode >out 2>err
status=$?
"$lode" report x.lode --functions --limit 1 --format json >out 2>>err
check "by inferred calls" "$(status_is 0)" "$(python3 - 2>&1 <<-'END'
	import json
	out = json.load(open("out"))
	if out["services_from"] != "inferred":
	    print("known from", out["services_from"])
	found = {row["function"] for one in out["services"] if one["family"] == "allocator"
	         for row in one["callers"]}
	if not {"malloc_often"} <= found <= {"malloc_often", "malloc_seldom"}:
	    print("called by", found)
END
)"
rm -f x.lode
"$lode" memory record -F 4000 --no-page-faults -o x.lode -- ./dynamic strlen 0 >out 2>err
status=$?
# It may end before the first sample.
if [ "$status" -eq 1 ] && grep -q "no sample was taken: the program ran too short" err; then status=0; fi
"$lode" report x.lode --functions >out 2>>err || [ $? -eq 1 ]
check "a program that is too short has no services" "$(status_is 0)"
