#!/bin/bash
# SPDX-License-Identifier: MIT
# How much the findings of two recordings of the same program have in common: each program is
# recorded twice, and finding_overlap.py says how many of the first five findings of each recording
# are among the first eight of the other, by their text and by their places.
#   bench/finding_overlap.sh [DIRECTORY [PROGRAM…]]
# The recordings are kept in DIRECTORY, and those that are there are taken. Default: all programs.
# LODE names the lode to use; default: build/src/cli/lode. CC1 is a compiler proper.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=${LODE:-build/src/cli/lode}
cc1=${CC1:-$(gcc -print-prog-name=cc1)}
export LODE_JVM_AGENT=${LODE_JVM_AGENT:-$PWD/build/tools/jvm_agent/liblode-jvm-agent.so}
if [ $# -gt 0 ]; then
	directory=$(realpath -m "$1")
	mkdir -p "$directory"
	shift
else
	directory=$(mktemp -d)
	trap 'rm -rf "$directory"' EXIT
fi

write_inputs() {
	find /usr/include /usr/share/perl -type f \( -name '*.h' -o -name '*.p[lm]' \) |
		LC_ALL=C sort | xargs cat 2>/dev/null | head -c 24000000 >"$directory/text" || true
	head -c 5000000 "$directory/text" >"$directory/text5"
	cat >"$directory/words.pl" <<'PERL'
my (%n, $s);
while (<>) { for my $w (split /[^A-Za-z_]+/) { $n{lc $w}++; $s += length $w; } }
my @t = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
print join("", map { sprintf "%s %d\n", $_, $n{$_} } @t), $s, "\n";
PERL
	cat >"$directory/words.py" <<'PYTHON'
import re, sys
counts, total = {}, 0
for line in open(sys.argv[1], errors='replace'):
    for word in re.split(r'[^A-Za-z_]+', line):
        counts[word.lower()] = counts.get(word.lower(), 0) + 1
        total += len(word)
print(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10], total)
PYTHON
	cat >"$directory/words.js" <<'JS'
const counts = new Map();
let total = 0;
for (let round = 0; round < 8; round++) {
	for (const word of require('fs').readFileSync(process.argv[2], 'latin1').split(/[^A-Za-z_]+/)) {
		const key = word.toLowerCase();
		counts.set(key, (counts.get(key) || 0) + 1);
		total += word.length;
	}
}
console.log([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 10), total);
JS
	cat >"$directory/Words.java" <<'JAVA'
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class Words {
	public static void main(String[] arguments) throws Exception {
		HashMap<String, Integer> counts = new HashMap<>();
		long total = 0;
		for (int round = 0; round < 8; round++) {
			String text = Files.readString(Path.of(arguments[0]), StandardCharsets.ISO_8859_1);
			for (String word : text.split("[^A-Za-z_]+")) {
				counts.merge(word.toLowerCase(Locale.ROOT), 1, Integer::sum);
				total += word.length();
			}
		}
		List<Map.Entry<String, Integer>> all = new ArrayList<>(counts.entrySet());
		all.sort(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()));
		System.out.println(all.subList(0, 10) + " " + total);
	}
}
JAVA
	cat >"$directory/rows.sql" <<'SQL'
CREATE TABLE t(a INTEGER, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO t SELECT i * 7919 % 200003, 'row ' || (i * 31 % 5003), i / 3.0 FROM n;
CREATE INDEX t_b ON t(b);
SELECT b, count(*), sum(c) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*) FROM t x JOIN t y ON x.a = y.a + 1 AND x.b < y.b;
SELECT a, upper(b) FROM t WHERE b LIKE '%99%' ORDER BY c DESC LIMIT 5;
SQL
	printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' >"$directory/code.c"
	for i in $(seq 400); do
		printf 'int f%d(int n, char *s) { int r = n, i; for (i = 0; i < n; i++)\n' "$i"
		printf '{ switch (s[i] & 7) { case 1: r += %d; break; case 2: r ^= i << 2; break;\n' "$i"
		printf 'case 5: printf("%%d\\n", r); default: r -= (int)strlen(s); }\n'
		printf 'if (r %% %d == 1) s = realloc(s, (size_t)r); } return r; }\n' "$((i % 9 + 2))"
	done >>"$directory/code.c"
	gcc -E -P "$directory/code.c" -o "$directory/code.i"
}

# compare NAME PROGRAM [ARGUMENT…]
compare() {
	local name=$1 i
	shift
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: no $1" >&2 && return 0; }
	for i in 1 2; do
		if [ ! -e "$directory/$name$i" ]; then
			"$lode" run -F 10000 -o "$directory/$name$i.lode" --report /dev/null \
				--keep-recording="$directory/$name$i" -- "$@" \
				>/dev/null 2>"$directory/$name.log"
		else
			"$lode" import "$directory/$name$i/"* -o "$directory/$name$i.lode" >/dev/null
			"$lode" mine --min-support 100% "$directory/$name$i.lode" >/dev/null
		fi
	done
	bench/finding_overlap.py "$name" "$directory/${name}1.lode" "$directory/${name}2.lode"
}

wanted=("$@")
write_inputs
echo "                         among the first eight of the other"
echo "program        samples   by text   by places"
compare sqlite3 sqlite3 :memory: ".read $directory/rows.sql"
compare gzip gzip -k -c "$directory/text"
compare perl perl "$directory/words.pl" "$directory/text5"
# With the same order of hashes in each run.
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0
compare perl-seeded perl "$directory/words.pl" "$directory/text5"
compare cc1 "$cc1" -quiet -O2 "$directory/code.i" -o /dev/null
compare python3 /usr/bin/python3 "$directory/words.py" "$directory/text5"
compare node node "$directory/words.js" "$directory/text5"
if command -v javac >/dev/null; then
	javac -d "$directory" "$directory/Words.java"
	compare java java -cp "$directory" Words "$directory/text5"
fi
compare xz xz -3 -T1 -k -c "$directory/text5"
