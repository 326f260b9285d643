#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each header compiles alone, without a warning: who includes it needs no other include before it.
# CC chooses the compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -ra flags <<<"$(pkg-config --cflags \
	gio-2.0 gio-unix-2.0 json-glib-1.0 sqlite3 libzstd libelf libdw cairo)"
status=0
while IFS= read -r header; do
	# Through standard input, so that '#pragma once' in a main file is no warning.
	if ! "${CC:-cc}" -std=gnu17 -fsyntax-only -Wall -Wextra -Werror -Wstrict-prototypes \
		-Wno-unused-function -D_GNU_SOURCE -Isrc "${flags[@]}" -x c - \
		<<<"#include \"${header#src/}\""; then
		echo "$header does not compile alone" >&2
		status=1
	fi
done < <(find src -name '*.h' | LC_ALL=C sort)
exit $status
