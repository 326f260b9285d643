#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each header compiles alone, without a warning: who includes it needs no other include before it.
# The build proves it of a header that some .c file of src/ includes before anything else; the
# others are compiled here. CC chooses the compiler.
#
#   scripts/check_headers.sh [--all]      --all: compile every header
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The headers that the build does not prove, one a line.
unproven_headers() {
	local sources
	if [ "${1:-}" = --all ]; then
		find src -name '*.h'
		return
	fi
	mapfile -t sources < <(find src -name '*.c')
	comm -23 <(find src -name '*.h' | LC_ALL=C sort) \
		<(awk '/^[ \t]*#[ \t]*define/ { nextfile }
			/^[ \t]*#[ \t]*include/ { if (split($0, parts, "\"") == 3) print "src/" parts[2]
				nextfile }' "${sources[@]}" | LC_ALL=C sort -u)
}

# Through standard input, so that '#pragma once' in a main file is no warning.
compile_header() {
	# shellcheck disable=SC2086 # words
	${CC:-cc} -std=gnu17 -fsyntax-only -Wall -Wextra -Werror -Wstrict-prototypes \
		-Wno-unused-function -D_GNU_SOURCE -Isrc $flags -x c - \
		<<<"#include \"${1#src/}\"" && return
	echo "$1 does not compile alone" >&2
	return 1
}
export -f compile_header

flags=$(pkg-config --cflags gio-2.0 gio-unix-2.0 json-glib-1.0 sqlite3 libzstd libelf libdw cairo)
export flags
# shellcheck disable=SC2016 # the dollar is the inner shell's
unproven_headers "$@" | xargs -r -P "$(nproc)" -I {} bash -c 'compile_header "$1"' _ {}
