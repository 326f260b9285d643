#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Rejects C files that clang-format would write differently, and prints what it would change.
#
#   scripts/check_format.sh         check
#   scripts/check_format.sh --fix   rewrite the files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t files < <(find src tests bench tools -name '*.[ch]' | LC_ALL=C sort)
if [ "${1:-}" = --fix ]; then
	exec clang-format -i "${files[@]}"
fi

status=0
for file in "${files[@]}"; do
	if ! clang-format "$file" | diff -u --label "$file" --label "$file (formatted)" "$file" -; then
		status=1
	fi
done
[ $status -eq 0 ] || echo "scripts/check_format.sh --fix mends this" >&2
exit $status
