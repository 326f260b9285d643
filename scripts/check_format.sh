#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Rejects C files that clang-format would write differently, and says where.
#
#   scripts/check_format.sh         check
#   scripts/check_format.sh --fix   rewrite the files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t files < <(find src tests bench tools -name '*.[ch]' | LC_ALL=C sort)
if [ "${1:-}" = --fix ]; then
	exec clang-format -i "${files[@]}"
fi
if ! clang-format --dry-run --Werror "${files[@]}"; then
	echo "scripts/check_format.sh --fix mends this" >&2
	exit 1
fi
