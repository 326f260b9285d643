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
	libglib2.0-dev libjson-glib-dev libsqlite3-dev libzstd-dev liblzma-dev zlib1g-dev libbz2-dev libprotobuf-c-dev protobuf-c-compiler
	libelf-dev libdw-dev libarchive-dev libdebuginfod-dev libiberty-dev libzydis-dev libpfm4-dev
	libcairo2-dev libhwloc-dev libncurses-dev libmicrohttpd-dev
	libopenmpi-dev openmpi-bin
	nodejs npm
)
test_packages=(
	valgrind g++ binutils file zstd sqlite3 mandoc libc6-dbg linux-perf tmux
	numactl hwloc-nox libnuma-dev libjemalloc2
	clang libclang-rt-14-dev clang-format shellcheck llvm-19 bolt-19
	ccache stress-ng chromium fonts-dejavu-core ruby python3-jsonschema
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

# npm of another source of Node.js than Debian comes with it.
is_installed() {
	local status
	[ "$1" != npm ] || ! command -v npm >/dev/null || return 0
	status=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) &&
		[ "$status" = installed ]
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup: this is no Debian system; install the equivalents of these packages by hand:" >&2
	echo "  ${packages[*]}" >&2
	echo "setup: going on with what is here" >&2
	exit 0
fi

# What package-lock.json names, for the page of lode serve; without it lode is built without its page.
# No script of a package is run.
install_page_packages() {
	local root how=(--omit=dev) probe=esbuild
	command -v npm >/dev/null || return 0
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/ui
	[ "$1" != --test ] || { how=() probe=playwright-core; }
	[ ! "$root/node_modules/.package-lock.json" -nt "$root/package-lock.json" ] ||
		[ ! -e "$root/node_modules/$probe" ] || return 0
	echo "setup: installing the packages of ui/package-lock.json"
	(cd "$root" && npm ci --ignore-scripts --no-audit --no-fund "${how[@]}" >"$log" 2>&1 </dev/null) && return 0
	tail -n 5 "$log" >&2
	echo "setup: 'npm ci' in ui/ failed; lode is built without the page of lode serve" >&2
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

missing=()
for package in "${packages[@]}"; do
	is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
	install_page_packages "${1:-}"
	exit 0
fi

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

run_apt() {
	if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		echo "setup: 'apt-get $*' failed; its last lines are above" >&2
		exit 1
	fi
}
run_apt update
run_apt install --no-install-recommends "${missing[@]}"
install_page_packages "${1:-}"
