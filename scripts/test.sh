#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing, builds lode in build/ and runs its tests. The last line is
# "N passed, N failed"; the exit status is 0 when none failed.
#
#   scripts/test.sh             all tests
#   scripts/test.sh --quick     without the tests that record a program with valgrind
#   scripts/test.sh --part K/N  of the tests that record and judge whole programs, which take most of
#                               the time, every N-th from the K-th; and all others
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

selection=()
case "${1:-}" in
"") ;;
--quick) selection=(--no-suite slow) ;;
--part) selection=(--part "${2:-}" "e2e,truth,insight,plain") ;;
*)
	echo "usage: scripts/test.sh [--quick | --part K/N]" >&2
	exit 2
	;;
esac

scripts/setup.sh --test
scripts/build.sh build
scripts/run_tests.sh build "${selection[@]}"
