#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the pairs: bench/fixes/build.sh DIRECTORY [KIND…]
#
# DIRECTORY gets KIND.before and KIND.after for each pair, programs that are started without
# arguments. Pairs in a language whose compiler is not installed are left out, and named.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || {
	echo "usage: build.sh DIRECTORY [KIND...]" >&2
	exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

has() { command -v "$1" >/dev/null; }

# Repeats what stands between "// forty {" and "// }", with 10 to 49 for NN.
forty() {
	awk '/^[ \t]*\/\/ forty \{$/ { inside = 1; block = ""; next }
		inside && /^[ \t]*\/\/ \}$/ {
			for (n = 10; n < 50; n++) { copy = block; gsub(/NN/, n, copy); printf "%s", copy }
			inside = 0
			next
		}
		inside { block = block $0 "\n"; next }
		{ print }' "$1"
}

# A script that starts what has no program of its own
starter() {
	printf '#!/bin/sh\nexec %s\n' "$2" >"$1"
	chmod +x "$1"
}

build() {
	local source=$1 name
	name=$(basename "${source%.*}")
	case $source in
	*.c) gcc -O2 -g -pthread -o "$out/$name" "$source" -lm ;;
	*.cc) g++ -O2 -g -pthread -o "$out/$name" "$source" ;;
	*.rs) rustc --edition 2021 -C opt-level=3 -C debuginfo=1 --crate-name "$(tr .- __ <<<"$name")" -o "$out/$name" "$source" ;;
	*.go)
		forty "$source" >"$out/$name.go"
		(cd "$out" && go build -o "$name" "$name.go")
		;;
	*.java)
		mkdir -p "$out/$name.classes"
		forty "$source" >"$out/$name.classes/Main.java"
		javac -g -d "$out/$name.classes" "$out/$name.classes/Main.java"
		starter "$out/$name" "java -cp '$out/$name.classes' Main"
		;;
	*.js)
		# its first line names node, so that lode run has it write down what it compiles
		{ echo '#!/usr/bin/env node' && cat "$source"; } >"$out/$name"
		chmod +x "$out/$name"
		;;
	esac
}

for source in "$here"/*.{before,after}.*; do
	kind=$(basename "${source%.*.*}")
	[ $# -eq 0 ] || [[ " $* " == *" $kind "* ]] || continue
	case $source in
	*.c) compiler=gcc ;;
	*.cc) compiler=g++ ;;
	*.rs) compiler=rustc ;;
	*.go) compiler=go ;;
	*.java) compiler=javac ;;
	*.js) compiler=node ;;
	esac
	if has "$compiler"; then
		build "$source"
	else
		echo "build: $kind is left out: $compiler is not installed" >&2
	fi
done
