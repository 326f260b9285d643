#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs that compile while they run, recorded by `lode run`, sampled and counted, and mined:
# their functions and instructions must be in the report. Counting them takes long, and is left out
# unless LODE_LONG_TESTS is in the environment: record/jit_runtime has shorter programs counted.
# Prints TAP; skips a runtime that is not there.
#
#   tests/e2e/jit.sh LODE
set -uo pipefail

lode=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp LC_ALL=C.UTF-8
number=0

cat >w.js <<'JS'
function hotDivisions(a) {
	let s = 0;
	for (let i = 0; i < a.length; i++) s = (s * 31 + ((a[i] / ((i & 7) + 1)) | 0)) | 0;
	return s;
}
const rounds = Number(process.argv[2]);
const a = new Int32Array(50000);
for (let i = 0; i < a.length; i++) a[i] = (i * 2654435761) | 0;
let r = 0;
for (let k = 0; k < rounds; k++) r ^= hotDivisions(a);
console.log('done');
JS
cat >W.java <<'JAVA'
public class W {
	static int hotDivisions(int[] a) {
		int s = 0;
		for (int i = 0; i < a.length; i++) s = s * 31 + a[i] / ((i & 7) + 1);
		return s;
	}
	public static void main(String[] arguments) {
		int[] a = new int[50000];
		for (int i = 0; i < a.length; i++) a[i] = i * 0x9e3779b1;
		int r = 0, rounds = Integer.parseInt(arguments[0]);
		for (int k = 0; k < rounds; k++) r ^= hotDivisions(a);
		System.out.println("done");
	}
}
JAVA

fail() { printf '# %s\n' "$@" >>faults; }

# What must hold of x.lode: the hot function is code made at run time, has most of the weight and
# its division's instructions, executions were found for it, and a sequence of it is reported.
check_profile() {
	local share
	share=$("$lode" info x.lode --format csv | awk -F, '/^image/ && /jit/ { print; exit }')
	[ -n "$share" ] || fail "no image of JIT code in lode info"
	sqlite3 x.lode "SELECT count(*) > 0 AND sum(i.count) > 0 FROM instruction i
		JOIN function f ON f.id = i.function JOIN image g ON g.id = f.image
		WHERE g.kind = 'jit' AND f.name LIKE '%hotDivisions%'" | grep -qx 1 ||
		fail "the hot function has no executions"
	sqlite3 x.lode "SELECT count(*) > 0 FROM instruction_place p
		JOIN instruction_attribute a ON a.instruction = p.instruction
		WHERE p.function_name LIKE '%hotDivisions%' AND a.name = 'kind:div'" |
		grep -qx 1 || fail "the hot function has no division"
	"$lode" report x.lode --all --with '*div*' --limit 1 --format csv | grep div >/dev/null ||
		fail "no sequence with its division in the report"
}

# The compiled method is called by main, be that interpreted or compiled.
check_callers() {
	local hot
	hot=$("$lode" report x.lode --functions --limit 1 --format csv | cut -d, -f1 | tail -n 1)
	"$lode" report x.lode --callers "$hot" >callers
	awk '/%/ && /Interpreter|W\.main/ { main += $1 }
		/inclusive/ { all = $(NF - 1) }
		END { exit !(main > 0.9 * all) }' callers || fail "the callers are $(tr '\n' ';' <callers)"
}

# run NAME PROGRAM OPTION… -- COMMAND…
run() {
	local name=$1
	shift
	number=$((number + 1))
	rm -f faults x.lode
	"$lode" run -o x.lode --min-support 0.2% --iterations 2 "$@" >out 2>err || fail "status $?"
	[ "$(head -n 1 out)" = "done" ] || fail "it printed '$(head -n 1 out)'"
	[ -s x.lode ] && check_profile
	[[ $name != *callers ]] || check_callers
	[ -z "$(ls -A tmp)" ] || fail "left $(ls -A tmp)"
	compgen -G 'jit-*.dump' >/dev/null && fail "left a dump in the current directory"
	if [ -e faults ]; then
		echo "not ok $number - $name"
		cat faults
		sed 's/^/# stderr: /' err
	else
		echo "ok $number - $name"
	fi
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

can_sample() { "$lode" record -o trial -e cpu-clock:u -- true >/dev/null 2>&1; }

if ! command -v sqlite3 >/dev/null; then
	echo "1..0 # SKIP sqlite3 is not there to look into profiles"
	exit 0
fi
if ! command -v node >/dev/null; then
	skip "node" "node is not there"
else
	if can_sample; then run "node, sampled" -F 10000 -- node w.js 2000; else skip "node, sampled" "no sampling"; fi
	[ -z "${LODE_LONG_TESTS:-}" ] || run "node, counted" --exact --fast -- node w.js 100
fi
if ! command -v javac >/dev/null || [ ! -e "${LODE_JVM_AGENT:-/nonexistent}" ]; then
	skip "java" "no JDK"
else
	javac W.java || exit 1
	if can_sample; then
		run "java, sampled" -F 10000 -- java -cp . W 2000
		run "java, its callers" -F 10000 -g -- java -cp . W 2000
		printf '#!/bin/sh\njava -cp . W "$@"\necho after\n' >start
		chmod +x start
		run "java, that a script starts" -F 10000 -- ./start 2000
	else
		skip "java, sampled" "no sampling"
	fi
	[ -z "${LODE_LONG_TESTS:-}" ] || run "java, counted" --exact --fast -- java -cp . W 200
fi
echo "1..$number"
