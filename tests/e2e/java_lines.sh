#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The diagnoses of Java programs are at the user's own lines, also where the code is that of inlined
# methods of the class library, or of the user's own; and perf reads the dumps of such code. Prints
# TAP; skips where sampling is not allowed, and without a JDK.
#
#   tests/e2e/java_lines.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
[ -e "${LODE_JVM_AGENT:-/nonexistent}" ] || skip "lode is built without its agent for Java"
needs javac python3 readelf
needs_sampling

cat >Lines.java <<'JAVA'
import java.util.LinkedList;
import java.util.List;
public class Lines {
	static long get(List<Integer> all) {
		long sum = 0;
		for (int i = 0; i < all.size(); i++)
			sum += all.get(i); // line 7
		return sum;
	}
	static int at(List<Integer> all, int i) {
		return all.get(i); // line 11
	}
	static long through(List<Integer> all) {
		long sum = 0;
		for (int i = 0; i < all.size(); i++)
			sum += at(all, i);
		return sum;
	}
	static int divide(int sum, int one) {
		return (sum + one) / ((one & 1023) + 1); // line 20
	}
	static int own(int[] all) {
		int sum = 1;
		for (int one : all)
			sum = divide(sum, one);
		return sum;
	}
	public static void main(String[] arguments) {
		int rounds = Integer.parseInt(arguments[1]);
		long sum = 0;
		List<Integer> list = new LinkedList<>();
		int[] array = new int[100000];
		for (int i = 0; i < 2000; i++) list.add(i * 7);
		for (int i = 0; i < array.length; i++) array[i] = i * 0x9e3779b1;
		for (int i = 0; i < rounds; i++)
			switch (arguments[0]) {
			case "get": sum += get(list); break;
			case "through": sum += through(list); break;
			case "own": sum += own(array); break;
			}
		System.out.println("done");
	}
}
JAVA
javac -g Lines.java || exit 1

# What the compiler would inline or not by how often it has seen it run.
java=(java -XX:CompileCommand=quiet "-XX:CompileCommand=inline,java.util.LinkedList::*"
	"-XX:CompileCommand=inline,Lines::at" "-XX:CompileCommand=inline,Lines::divide" Lines)

# is_at LINE INNERMOST CAUSE: the place of the first diagnosis; INNERMOST: the file of what is
# inlined there, "-": nothing.
is_at() {
	"$lode" report x.lode --format json 2>>err | python3 -c '
import json, sys
line, innermost, cause = sys.argv[1:]
found = json.load(sys.stdin)["diagnoses"]
if not found or found[0]["cause"] != cause:
    sys.exit("the first diagnosis is " + (found[0]["cause"] if found else "missing"))
scope = found[0]["scope"]
if (scope["file"], scope["line"]) != ("Lines.java", int(line)):
    print("it is at", scope["file"], scope["line"])
chain = [one["file"] for one in scope["inlined"]] or ["-"]
if chain[-1] != innermost:
    print("inlined there is", *chain)' "$@" 2>&1
}

# run WORD ROUNDS
run() {
	"$lode" run -o x.lode -- "${java[@]}" "$@" >out 2>err
	status=$?
}

run get 700
check "the class library, inlined" "$(status_is 0)" "$(is_at 7 java/util/LinkedList.java linear-search)"
run through 700
check "the class library in a method of the program's own that is inlined" "$(status_is 0)" \
	"$(is_at 11 java/util/LinkedList.java linear-search)"
run own 2500
check "a method of the program's own, inlined" "$(status_is 0)" "$(is_at 20 Lines.java division)"

# perf takes the innermost lines, those of LinkedList.node(), and no note of the rest.
if command -v perf >/dev/null && perf record -q -k mono -e cpu-clock:u -o perf.data \
	java -agentpath:"$LODE_JVM_AGENT" "${java[@]:1}" get 700 >out 2>err; then
	perf inject --jit -i perf.data -o jitted.data >out 2>err
	status=$?
	mapfile -t made < <(grep -l 'Lines.get(' jitted-*.so)
	readelf --debug-dump=decodedline "${made[@]}" >lines 2>>err
	check "perf reads the dump" "$(status_is 0)" "$(holds grep -qE ' 5[78][0-9] ' lines)" \
		"$(grep -m 1 'unknown record' err)"
fi
echo "1..$number"
