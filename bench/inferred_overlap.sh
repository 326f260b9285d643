#!/bin/bash
# SPDX-License-Identifier: MIT
# Executions inferred from real timer samples beside exact ones: records each program twice, at full
# speed and under valgrind, and prints how far they overlap (inferred_overlap.py says how).
#   bench/inferred_overlap.sh [DIRECTORY]    keeps recordings there and takes those that it has
# LODE names the lode to use; default: build/src/cli/lode.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=${LODE:-build/src/cli/lode}
if [ $# -gt 0 ]; then
	directory=$1
	mkdir -p "$directory"
else
	directory=$(mktemp -d)
	trap 'rm -rf "$directory"' EXIT
fi
# The library must choose the same variants of memcpy and the like as under valgrind.
tunables=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ

# About a second of work each.
write_inputs() {
	# find, not a shell's pattern: the order and the files are the same each time.
	find /usr/bin -type f -size +100k | LC_ALL=C sort | xargs cat 2>/dev/null |
		head -c 3500000 >"$directory/programs" || true
	find /usr/include /usr/share/perl -type f \( -name '*.h' -o -name '*.p[lm]' \) |
		LC_ALL=C sort | xargs cat 2>/dev/null | head -c 24000000 >"$directory/text" || true
	head -c 13000000 "$directory/text" >"$directory/text13"
	cat >"$directory/words.pl" <<'PERL'
my (%n, $s, @k);
while (<>) {
	s/^\s+//;
	for my $w (split /[^A-Za-z_]+/) { $n{lc $w}++; $s += length $w; }
	push @k, $1 if /\b(\w+)\s*\(/;
}
my @t = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
print join("", map { sprintf "%s %d\n", $_, $n{$_} } @t), $s, " ", scalar(@k), "\n";
PERL
	cat >"$directory/words.awk" <<'AWK'
{ for (i = 1; i <= NF; i++) { n[tolower(substr($i, 1, 6))]++; if ($i ~ /^[a-z_]+\(/) c++ }
  gsub(/[(),]/, " "); t += NF }
END { for (k in n) if (m < n[k]) m = n[k]; print c, t, m }
AWK
}

# record NAME PROGRAM [ARGUMENT…]
record() {
	local name=$1
	shift
	if [ ! -e "$directory/$name.exact.lode" ]; then
		GLIBC_TUNABLES=$tunables "$lode" run -F 10000 --min-support=20% \
			--keep-recording="$directory/$name.samples" -o "$directory/$name.lode" \
			--report /dev/null -- "$@" >/dev/null 2>"$directory/$name.log"
		"$lode" run --exact --fast --min-support=20% -o "$directory/$name.part" \
			--report /dev/null -- "$@" >/dev/null 2>>"$directory/$name.log"
		mv "$directory/$name.part" "$directory/$name.exact.lode"
	fi
	"$lode" import "$directory/$name.samples/"* -o "$directory/$name.lode" >/dev/null
	bench/inferred_overlap.py "$directory/$name.lode" "$directory/$name.exact.lode" |
		awk -v name="$name" '$1 == "blocks" { b = $2 "   " $3 }
			$1 == "edges" { printf "%-8s %s   %s   %s\n", name, b, $2, $3 }'
}

write_inputs
echo "         blocks            edges"
echo "         naive    inferred naive    inferred"
record xz xz -3 -T1 -c "$directory/programs"
record perl perl "$directory/words.pl" "$directory/text13"
record mawk mawk -f "$directory/words.awk" "$directory/text"
