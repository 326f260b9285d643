#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the Java virtual machine does for a program, in its library and stubs, is charged to the line
# that called it, through compiled code that has no frame pointer. Prints TAP; skips where sampling is
# not allowed, and without a JDK.
#
#   tests/e2e/java_calls.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
[ -e "${LODE_JVM_AGENT:-/nonexistent}" ] || skip "lode is built without its agent for Java"
needs javac python3
needs_sampling

cat >Calls.java <<'JAVA'
import java.util.ArrayList;
import java.util.List;
public class Calls {
	static String render(List<String> words) {
		String text = "";
		for (String word : words)
			text += word; // line 7
		return text;
	}
	static int[] with(int[] all, int one) {
		int[] longer = new int[all.length + 1]; // line 11
		System.arraycopy(all, 0, longer, 0, all.length);
		longer[all.length] = one;
		return longer;
	}
	static int[] gather(int n) {
		int[] all = {};
		for (int i = 0; i < n; i++)
			all = with(all, i);
		return all;
	}
	static int known(List<Integer> all, int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			if (all.contains(-i - 1)) // line 25
				sum++;
		return sum;
	}
	public static void main(String[] arguments) {
		long sum = 0;
		if (arguments[0].equals("search")) {
			List<Integer> all = new ArrayList<>();
			for (int i = 0; i < 100000; i++) all.add(i);
			System.out.println(known(all, Integer.parseInt(arguments[1])));
			return;
		}
		List<String> words = new ArrayList<>();
		for (int i = 0; i < 6000; i++) words.add("weather ");
		for (int i = 0; i < Integer.parseInt(arguments[1]); i++)
			sum += arguments[0].equals("text") ? render(words).length() : gather(20000).length;
		System.out.println(sum);
	}
}
JAVA
javac -g Calls.java || exit 1

# is_in FUNCTION LINE…: what the virtual machine does is called there, and no service is called from
# its own code or the class library's. Compiled code has no line at some calls.
is_in() {
	"$lode" report x.lode --format json 2>>err | python3 -c '
import json, sys
function, *lines = sys.argv[1:]
found = json.load(sys.stdin)["diagnoses"]
for one in found:
    place = one["scope"]["function"] or ""
    if one["scope"]["kind"] == "service" and place and not place.startswith("Calls."):
        print(one["cause"], "is at", place)
if not found or found[0]["scope"]["kind"] != "service":
    sys.exit("the first diagnosis is " + (found[0]["cause"] if found else "missing"))
scope = found[0]["scope"]
if not (scope["function"] or "").startswith(function):
    print("it is in", scope["function"])
if scope["line"] and str(scope["line"]) not in lines:
    print("it is at", scope["line"])' "$@" 2>&1
}

# run WORD ROUNDS
run() {
	"$lode" run -o x.lode -- java -XX:+UseSerialGC Calls "$@" >out 2>err
	status=$?
}

run text 12
check "a text that grows by +=" "$(status_is 0)" "$(is_in Calls.render 7)"
run array 8
check "arrays that are made anew" "$(status_is 0)" "$(is_in Calls. 11 12 18)"
# It is called once, and its loop has too few rounds to be compiled.
run search 6000
check "a method that is interpreted" "$(status_is 0)" "$(is_in Calls.known 25)"
echo "1..$number"
