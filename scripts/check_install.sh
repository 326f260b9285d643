#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# 'meson install' puts everything below DESTDIR and the prefix, and what it puts there works.
# Prints TAP.
#
#   scripts/check_install.sh BUILD_DIRECTORY
set -euo pipefail

build=$(realpath "$1")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
destination=$(mktemp -d)
trap 'rm -rf "$destination"' EXIT
number=0

# check NAME COMMAND…: one case.
check() {
	local name=$1 said status=0
	shift
	number=$((number + 1))
	said=$("$@" 2>&1) || status=$?
	if [ $status -eq 0 ]; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		while IFS= read -r line; do echo "# $line"; done <<<"$said"
	fi
}

install_all() {
	DESTDIR=$destination meson install -C "$build" --no-rebuild --quiet
}

is_only_below_prefix() {
	local outside
	outside=$(find "$destination" -type f ! -path "$root/*")
	[ -z "$outside" ] || { echo "$outside" && return 1; }
}

has_man_pages() {
	local page
	for page in "$source"/man/*.1; do
		[ ! -e "$page" ] || ls "$root/share/man/man1/$(basename "$page")"* || return 1
	done
}

# The completion offers the verb that begins like the word typed.
completes_in_bash() (
	# shellcheck disable=SC1090,SC1091 # made by the build
	source "$root/share/bash-completion/completions/lode"
	[[ $(complete -p lode) =~ -F\ ([^ ]+) ]]
	COMP_WORDS=(lode mi) COMP_CWORD=1 COMP_LINE='lode mi' COMP_POINT=7 COMPREPLY=()
	export COMP_LINE COMP_POINT
	"${BASH_REMATCH[1]}" lode mi lode
	[ "${COMPREPLY[*]}" = mine ] || { echo "'lode mi' completes to: ${COMPREPLY[*]}" && return 1; }
)

completes_in_zsh() {
	local file=$root/share/zsh/site-functions/_lode
	[ "$(head -n 1 "$file")" = '#compdef lode' ] || { head -n 1 "$file" && return 1; }
	! command -v zsh >/dev/null || zsh -n "$file"
}

has_documents() {
	local file
	for file in "$source"/{LICENSE,README.md,CHANGELOG.md} "$source"/docs/*/{,*/}*.md; do
		file=${file#"$source"/}
		[ -s "$root/share/doc/lode/$file" ] || { echo "no $file" && return 1; }
	done
}

# Where there was a JDK, the agent lies where the program looks for it.
has_java_agent() {
	local file
	[ -e "$build/tools/jvm_agent/liblode-jvm-agent.so" ] || return 0
	file=$(find "$root" -path '*/lode/liblode-jvm-agent.so')
	[ -n "$file" ] || return 1
	# The program looks for it by its name in this folder.
	file=${file#"$destination"}
	grep -qF "${file%/*}" "$binary" && grep -qF "${file##*/}" "$binary"
}

echo "1..8"
check "installs" install_all
binary=$(find "$destination" -path '*/bin/lode')
root=${binary%/bin/lode}
check "everything lies below the prefix" is_only_below_prefix
check "the program runs" "$binary" --version
check "man pages" has_man_pages
check "bash completion" completes_in_bash
check "zsh completion" completes_in_zsh
check "documents" has_documents
check "agent for Java" has_java_agent
