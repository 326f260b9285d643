#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs the Debian 12 packages that lode needs and that are not there yet.
#
#   scripts/setup.sh          what building and running lode needs
#   scripts/setup.sh --test   also what the tests and the checks need
#
# Root is asked for only when a package is missing.
set -euo pipefail

build_packages=(
	meson ninja-build pkg-config gcc libc6-dev qemu-user
	libglib2.0-dev libjson-glib-dev libsqlite3-dev libzstd-dev liblzma-dev zlib1g-dev
	libelf-dev libdw-dev libdebuginfod-dev libiberty-dev libzydis-dev libpfm4-dev
	libcairo2-dev libhwloc-dev libncurses-dev
)
test_packages=(
	valgrind g++ binutils file zstd sqlite3 mandoc libc6-dbg linux-perf tmux
	numactl hwloc-nox libnuma-dev libjemalloc2
	clang libclang-rt-14-dev clang-format shellcheck
	ccache stress-ng
)

packages=("${build_packages[@]}")
case "${1:-}" in
"") ;;
--test) packages+=("${test_packages[@]}") ;;
*)
	echo "usage: scripts/setup.sh [--test]" >&2
	exit 2
	;;
esac

is_installed() {
	local status
	status=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) &&
		[ "$status" = installed ]
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup: this is no Debian system; install the equivalents of these packages by hand:" >&2
	echo "  ${packages[*]}" >&2
	echo "setup: going on with what is here" >&2
	exit 0
fi

missing=()
for package in "${packages[@]}"; do
	is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "setup: packages are missing, and there is neither root nor sudo. Run as root:" >&2
		echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
		exit 1
	fi
	echo "setup: this needs root; sudo may ask for your password"
	as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_apt() {
	if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		echo "setup: 'apt-get $*' failed; its last lines are above" >&2
		exit 1
	fi
}
run_apt update
run_apt install --no-install-recommends "${missing[@]}"
