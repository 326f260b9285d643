#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tests `lode memory` on garbage-collected heaps: programs that spend 70 % of the time on objects of
# one class or allocation site and 30 % on those of a second one, in dependent loads that wait alike. Prints TAP; skips
# where sampling is not allowed, and runtimes that are not installed.
#
#   tests/e2e/managed_heaps.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
export HOME=$work

needs_sampling

# leave_out NAME WHY: a case that cannot be run here.
leave_out() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# record COMMAND…: its output is in ./out.
record() {
	"$lode" memory record -e cpu-clock:u -F 2000 --no-page-faults -o x.lode -- "$@" >out 2>err
	status=$?
}

# It prints what it does alone: of the rings a sum that is known.
prints() { [ "$(cat out)" = "$1" ] || echo "it prints $(head -c 200 out), not $1"; }

# ratio ATTRIBUTE VALUE OTHER: whether the first has 70 % of what both have, within 5 points. On a busy
# machine a walk may see one of two objects only, or one of them late: unless LODE_LONG_TESTS is in
# the environment, it is enough then that neither has more than its part of all that is not named
# otherwise, and the share may be 10 points off. Then one of three
# collectors is tried, too, and the ring of Node.js is walked for 5 s rather than 14.
ratio() {
	local points=10
	[ -z "${LODE_LONG_TESTS:-}" ] || points=5
	"$lode" memory x.lode --by "$1" --format csv 2>>err | awk -F, -v a="$2" -v b="$3" -v points=$points '
		$2 == "value" && $3 == a { first = $4 }
		$2 == "value" && $3 == b { second = $4 }
		$2 == "value" { all += $4 }
		END {
			share = first + second > 0 ? 100 * first / (first + second) : 0
			if (points > 5 && first + second < 0.9 * all) {
				if (first > (70 + points) / 100 * all || second > (30 + points) / 100 * all)
					print "both have more than their part: " first " and " second " of " all
				exit
			}
			if (share < 70 - points || share > 70 + points)
				print a " has " share " % of the two, not 70"
			if (points == 5 && first + second < all / 2)
				print "both have " first + second " of " all
		}'
}

# nobody ATTRIBUTE VALUE: no sample has this value.
nobody() {
	"$lode" memory x.lode --by "$1" --format csv 2>>err |
		awk -F, -v a="$2" '$2 == "value" && $3 == a { print "samples of " a }'
}

cat >Arrays.java <<'JAVA'
public class Arrays {
	public static void main(String[] arguments) {
		long[] a = new long[1 << 23];
		int[] b = new int[1 << 24];
		java.util.Random random = new java.util.Random(1);
		for (int i = 0; i < a.length; i++) a[i] = random.nextInt();
		for (int i = 0; i < b.length; i++) b[i] = random.nextInt();
		int at = 1, rounds = Integer.parseInt(arguments[0]);
		for (int i = 0; i < rounds; i++) at = walk(a, b, at, 100000);
		System.out.println(at);
	}
	static int walk(long[] a, int[] b, int at, int n) {
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < 7; k++) at = at * 31 + i + (int) a[at & ((1 << 23) - 1)];
			for (int k = 0; k < 3; k++) at = at * 31 + i + b[at & ((1 << 24) - 1)];
		}
		return at;
	}
}
JAVA
cat >Ring.java <<'JAVA'
class Node { Node next; long value, a, b; }
class Apple extends Node { }
class Pear extends Node { }
public class Ring {
	static Node at;
	static Object garbage;
	static long walk(int n) {
		long sum = 0;
		Node x = at;
		for (int i = 0; i < n; i++) {
			sum += x.value;
			x = x.next;
			if ((i & 15) == 0) garbage = new byte[64];
		}
		at = x;
		return sum;
	}
	public static void main(String[] arguments) {
		int n = 1000000, rounds = Integer.parseInt(arguments[0]);
		Node[] all = new Node[n];
		java.util.Random random = new java.util.Random(7);
		for (int i = 0; i < n; i++) {
			all[i] = i % 10 < 7 ? new Apple() : new Pear();
			all[i].value = i;
		}
		for (int i = n - 1; i > 0; i--) {
			int k = random.nextInt(i + 1);
			Node t = all[i]; all[i] = all[k]; all[k] = t;
		}
		for (int i = 0; i < n; i++) all[i].next = all[(i + 1) % n];
		at = all[0];
		all = null;
		long sum = 0;
		for (int i = 0; i < rounds; i++) sum += walk(1000000);
		System.out.println(sum);
		System.exit(3);
	}
}
JAVA

# Objects of one class: two sites have 70 and 30 % of the accesses, but 35 and 50 % of the objects.
cat >Sites.java <<'JAVA'
class Link { Link next; long value, a, b, c, d, e, f, g, h, i, j, k, l, m; }
public class Sites {
	static Link at;
	static Object kept, garbage;
	static Link first() { return new Link(); }
	static Link second() { return new Link(); }
	static Link third() { return new Link(); }
	static long walk(int n) {
		long sum = 0;
		Link x = at;
		for (int i = 0; i < n; i++) {
			sum += x.value;
			x = x.next;
			if ((i & 15) == 0) garbage = new byte[64];
		}
		at = x;
		return sum;
	}
	public static void main(String[] arguments) {
		int n = 300000, rounds = Integer.parseInt(arguments[0]);
		Link[] all = new Link[n], rest = new Link[n];
		java.util.Random random = new java.util.Random(7);
		for (int i = 0; i < n; i++) {
			all[i] = i % 10 < 7 ? first() : second();
			all[i].value = i;
			rest[i] = i % 10 < 7 ? second() : third();
		}
		for (int i = n - 1; i > 0; i--) {
			int k = random.nextInt(i + 1);
			Link t = all[i]; all[i] = all[k]; all[k] = t;
		}
		for (int i = 0; i < n; i++) all[i].next = all[(i + 1) % n];
		at = all[0];
		all = null;
		kept = rest;
		long sum = 0;
		for (int i = 0; i < rounds; i++) sum += walk(1000000);
		System.out.println(sum);
	}
}
JAVA

cat >arrays.js <<'JS'
const a = new Float64Array(1 << 23), b = new Int32Array(1 << 24);
let seed = 12345;
function random() { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return seed; }
for (let i = 0; i < a.length; i++) a[i] = random();
for (let i = 0; i < b.length; i++) b[i] = random();
function walk(a, b, at, n) {
	for (let i = 0; i < n; i++) {
		for (let k = 0; k < 7; k++) at = (Math.imul(at, 31) + i + (a[at & 0x7fffff] | 0)) | 0;
		for (let k = 0; k < 3; k++) at = (Math.imul(at, 31) + i + b[at & 0xffffff]) | 0;
	}
	return at;
}
let at = 1;
const rounds = Number(process.argv[2]);
for (let i = 0; i < rounds; i++) at = walk(a, b, at, 100000);
console.log(at);
JS
cat >ring.js <<'JS'
class Apple { constructor(v) { this.value = v; this.next = null; this.a = 1; this.b = 2; } }
class Pear { constructor(v) { this.value = v; this.next = null; this.a = 1; this.b = 2; } }
const n = 1000000, rounds = Number(process.argv[2]);
let seed = 12345, garbage;
function random(k) { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return seed % k; }
let all = new Array(n);
for (let i = 0; i < n; i++) all[i] = i % 10 < 7 ? new Apple(i) : new Pear(i);
for (let i = n - 1; i > 0; i--) {
	const k = random(i + 1), t = all[i];
	all[i] = all[k];
	all[k] = t;
}
for (let i = 0; i < n; i++) all[i].next = all[(i + 1) % n];
let at = all[0];
all = null;
function walk(x, m) {
	let s = 0;
	for (let i = 0; i < m; i++) {
		s += x.value;
		x = x.next;
		if ((i & 15) === 0) garbage = { i };
	}
	at = x;
	return s;
}
let sum = 0;
for (let i = 0; i < rounds; i++) sum += walk(at, 1000000);
console.log(sum);
process.exitCode = 3;
JS

# Whether this one publishes what is needed to read its heap.
reads_node() { grep -aq v8dbg_SmiTag "$(realpath "$(command -v node)")"; }

node_cases() {
	record node arrays.js 8
	check "node: two typed arrays" "$(status_is 0)" "$(prints 782650901)" \
		"$(ratio object Float64Array Int32Array)"
	local rounds=20
	[ -z "${LODE_LONG_TESTS:-}" ] || rounds=60
	record node ring.js $rounds
	check "node: objects of two classes" "$(status_is 3)" "$(prints $((rounds * 499999500000)))" \
		"$(ratio object Apple Pear)"
}

java_cases() {
	# Turns around the whole ring, so that the sum is known.
	local collector collectors=(G1) rounds=39
	[ -z "${LODE_LONG_TESTS:-}" ] || { collectors+=(Serial Parallel) && rounds=399; }
	record java Arrays 10
	check "java: two arrays" "$(status_is 0)" "$(prints 1162149127)" \
		"$(ratio object 'long[]' 'int[]')"
	record java Sites $rounds
	check "java: objects of two sites" "$(status_is 0)" "$(prints $((rounds * 149999500000)))" \
		"$(ratio allocation 'new@Sites.java:5 (estimated)' 'new@Sites.java:6 (estimated)')"
	for collector in "${collectors[@]}"; do
		record java "-XX:+Use${collector}GC" Ring 12
		check "java, $collector: objects of two classes" "$(status_is 3)" \
			"$(prints 5999994000000)" "$(ratio object Apple Pear)"
	done
	if java -XX:+UseZGC -version >/dev/null 2>&1; then
		record java -XX:+UseZGC Ring 3
		check "java, Z: objects that move at any time have no class" "$(status_is 3)" \
			"$(prints 1499998500000)" "$(nobody object Apple)"
	fi
}

if command -v javac >/dev/null && [ -r "${LODE_JVM_AGENT:-}" ] && javac Arrays.java Ring.java Sites.java 2>err; then
	java_cases
else
	leave_out "java" "no java, or lode was built without its agent"
fi
if command -v node >/dev/null && reads_node; then
	node_cases
else
	leave_out "node" "no node that publishes its objects' layout"
fi

echo "1..$number"
