#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Configures a build directory where there is none and builds it; quick when nothing changed.
#
#   scripts/build.sh [DIRECTORY [MESON OPTION…]]      DIRECTORY is "build" unless given
#
# The options count when the directory is made; CC in the environment chooses the compiler then.
# TARGETS in the environment names files to build; all unless given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

directory=${1:-build}
shift || true

# What meson and ninja would say of a missing tool is long.
missing=()
for tool in meson ninja pkg-config ${CC:-}; do
	command -v "$tool" >/dev/null || missing+=("$tool")
done
[ -n "${CC:-}" ] || command -v cc gcc clang >/dev/null || missing+=("a C compiler")
if [ ${#missing[@]} -gt 0 ]; then
	printf 'build: not installed: %s\n' "${missing[@]}" >&2
	echo "build: on Debian, scripts/setup.sh installs what is missing" >&2
	exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ ! -e "$directory/build.ninja" ]; then
	echo "build: configuring $directory"
	# A directory that an interrupted configuration left behind is begun anew.
	rm -rf "$directory"
	if ! meson setup "$directory" "$@" >"$log" 2>&1; then
		cat "$log" >&2
		rm -rf "$directory"
		exit 1
	fi
fi
echo "build: compiling in $directory"
read -ra targets <<<"${TARGETS:-}"
if ! ninja -C "$directory" -j "$(nproc)" "${targets[@]}" >"$log" 2>&1; then
	# From the first file that failed; where there is none, the configuration did.
	sed -n '/^FAILED/,$p' "$log" | grep . >&2 || cat "$log" >&2
	exit 1
fi
grep -E 'warning:' "$log" >&2 || true
[ ${#targets[@]} -gt 0 ] || echo "build: $directory/src/cli/lode is ready"
