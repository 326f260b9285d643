# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # of whoever sources it
# Ten programs to record, of several languages. To be sourced, in the root of the sources; expects
# $directory, where their inputs are written unless they are there, and $scale, how long they run.

write_inputs() {
	local i
	# find, not a shell's pattern: the order and the files are the same each time.
	find /usr/bin -type f -size +100k | LC_ALL=C sort | xargs cat 2>/dev/null |
		head -c 3500000 >"$directory/programs" || true
	find /usr/include /usr/share/perl -type f \( -name '*.h' -o -name '*.p[lm]' \) |
		LC_ALL=C sort | xargs cat 2>/dev/null | head -c 24000000 >"$directory/text" || true
	sed "s/ROWS/$((scale * 200000))/" bench/programs/rows.sql >"$directory/rows.sql"
	# The same code again and again, each time in a namespace of its own.
	{
		grep '^#include' bench/programs/containers.cc
		for ((i = 0; i < scale; i++)); do
			echo "namespace n$i {"
			grep -v '^#include' bench/programs/containers.cc | sed 's/int main(/int run(/'
			echo "}"
		done
	} | c++ -E -x c++ - >"$directory/containers.ii"
	c++ -O2 -o "$directory/containers-cc" bench/programs/containers.cc
	! command -v rustc >/dev/null ||
		rustc -O -o "$directory/containers-rs" bench/programs/containers.rs
}

# Words, each SCALE·N times.
repeat() {
	local i n=$(($1 * scale))
	shift
	for ((i = 0; i < n; i++)); do printf '%s\n' "$@"; done
}

# Calls measure NAME PROGRAM [ARGUMENT…] for each.
measure_ten_programs() {
	local some programs scripts
	[ -e "$directory/containers.ii" ] || write_inputs
	mapfile -t some < <(repeat 1 "$directory/text")
	mapfile -t programs < <(repeat 1 "$directory/programs")
	mapfile -t scripts < <(repeat 1 /usr/lib/python3*/[a-e]*.py)
	measure sqlite3 sqlite3 :memory: ".read $directory/rows.sql"
	measure lua lua5.4 bench/programs/words.lua "${some[@]}"
	measure perl perl bench/programs/words.pl "${some[@]}"
	measure gzip gzip -c "${some[@]}"
	measure xz xz -3 -T1 -c "${programs[@]}"
	measure python3 /usr/bin/python3 -S -c 'import sys,tokenize
print(sum(1 for f in sys.argv[1:] for t in tokenize.generate_tokens(open(f).readline)))' "${scripts[@]}"
	measure cc1 "$(c++ -print-prog-name=cc1plus)" -quiet -O2 -o /dev/null "$directory/containers.ii"
	measure mawk mawk -f bench/programs/words.awk "${some[@]}"
	measure c++ "$directory/containers-cc" $((scale * 140))
	measure rust "$directory/containers-rs" $((scale * 350))
}
