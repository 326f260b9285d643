# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2016 # of whoever sources it; scripts of programs
# Programs to record, of several languages: ten, and more that not every machine has. To be sourced, in
# the root of the sources; expects $directory, where their inputs are written unless they are there, and
# $scale, how long they run.

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

# Likewise, of some other programs; those that are not installed are for the caller to leave out.
measure_more_programs() {
	local text=$directory/text some java
	[ -e "$directory/containers.ii" ] || write_inputs
	! command -v go >/dev/null || go build -o "$directory/containers-go" bench/programs/containers.go
	! command -v javac >/dev/null || javac -d "$directory" bench/programs/Containers.java
	[ -e "$directory/lines" ] || tr -cs 'A-Za-z_' '\n' <"$text" | awk 'NR <= 500000' >"$directory/lines"
	[ -e "$directory/some.json" ] || node -e 'let items = []
for (let i = 0; i < 60000; i++) items.push({ name: `k${i * 7919 % 3000}`, value: i % 1000, tags: ["a", `t${i % 17}`] })
console.log(JSON.stringify(items))' >"$directory/some.json"
	mapfile -t some < <(repeat 1 "$directory/lines")
	measure go "$directory/containers-go" $((scale * 120))
	measure node "$(command -v node)" bench/programs/containers.js $((scale * 100))
	java=$(command -v java) || java=java
	measure java "$java" -cp "$directory" Containers $((scale * 80))
	measure sort-C env LC_ALL=C.utf8 sort --parallel=1 "${some[@]}"
	measure sort-en env LC_ALL=en_US.UTF-8 sort --parallel=1 "${some[@]}"
	measure git git log -p --no-color -n $((scale * 600))
	# Into a file: to /dev/null it ends at the first match.
	mapfile -t some < <(repeat 5 "$text")
	measure grep bash -c 'LC_ALL=C exec grep -acP "$1" "${@:2}" >"$0"' "$directory/matches" \
		'(\w+)\s+\1\b|[a-z]{3,}ing\b' "${some[@]}"
	mapfile -t some < <(repeat 1 "$directory/some.json")
	measure jq jq 'group_by(.name) | map({name: .[0].name, total: (map(.value) | add)}) | length' "${some[@]}"
	mapfile -t some < <(repeat 2 "$directory/programs")
	measure zstd zstd -q -13 -c "${some[@]}"
	mapfile -t some < <(repeat 12 "$text")
	measure openssl openssl dgst -sha3-256 "${some[@]}"
	measure bc bash -c 'echo "scale=1500; for (i = 0; i < $0 * 2; i++) s = e(1) + sqrt(i); s" | bc -l' "$scale"
	mapfile -t some < <(repeat 3 "$directory/programs")
	measure bzip2 bzip2 -9 -c "${some[@]}"
}
