#!/bin/bash
# SPDX-License-Identifier: MIT
# Executions inferred from real timer samples beside exact ones: records each program twice, at full
# speed and under valgrind, and prints how far they overlap (inferred_overlap.py says how).
#   bench/inferred_overlap.sh [DIRECTORY [PROGRAM…]]
# The recordings are kept in DIRECTORY, and those that are there are taken. Default: all programs.
# LODE names the lode to use; default: build/src/cli/lode.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=${LODE:-build/src/cli/lode}
if [ $# -gt 0 ]; then
	directory=$(realpath -m "$1")
	mkdir -p "$directory"
	shift
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
	head -c 5000000 "$directory/text" >"$directory/text5"
	sed "s/ROWS/200000/" bench/programs/rows.sql >"$directory/rows.sql"
}

# record NAME PROGRAM [ARGUMENT…]
record() {
	local name=$1
	shift
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: no $1" >&2 && return 0; }
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
		awk -v name="$name" '{ row[$1] = $2 "   " $3 }
			END { printf "%-8s %s   %s   %s\n", name, row["blocks"], row["edges"],
				row["waits"] }'
}

wanted=("$@")
write_inputs
echo "         blocks            edges             waits"
echo "         naive    inferred naive    inferred naive    inferred"
record xz xz -3 -T1 -c "$directory/programs"
record perl perl bench/programs/words.pl "$directory/text13"
record mawk mawk -f bench/programs/words.awk "$directory/text"
record gzip gzip -k -c "$directory/text"
record bzip2 bzip2 -k -c "$directory/text5"
record sqlite3 sqlite3 :memory: ".read $directory/rows.sql"
record lua lua5.4 bench/programs/words.lua "$directory/text13"
# Only for judging: the model was not chosen by them.
record zstd zstd -9 --single-thread -c "$directory/text5"
record sort sort --parallel=1 "$directory/text13"
record grep grep -E -c '([a-z]+_[a-z]+)\(.*(int|char)' "$directory/text"
record python3 /usr/bin/python3 -S -c 'import sys,tokenize
print(sum(1 for f in sys.argv[1:] for t in tokenize.generate_tokens(open(f).readline)))' \
	/usr/lib/python3*/a[a-s]*.py /usr/lib/python3*/d*.py
