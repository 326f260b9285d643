# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How a test script begins, and its cases as TAP. To be sourced; expects the standard error of what
# ran in ./err and its status in $status.

number=0
status=0
# Where lode is built with a sanitizer, it may all the same be run with libraries preloaded.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"

# check NAME FAULT…: a case, and what is wrong with it (empty words are nothing).
check() {
	local name=$1 fault faults=()
	shift
	for fault in "$@"; do [ -z "$fault" ] || faults+=("$fault"); done
	number=$((number + 1))
	if [ ${#faults[@]} -eq 0 ]; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		printf '# %s\n' "${faults[@]}"
		sed 's/^/# stderr: /' err
	fi
}

status_is() { [ "$status" -eq "$1" ] || echo "status $status, not $1"; }
holds() { "$@" || echo "not so: $*"; }

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

# begin LODE: sets $lode, and goes to a new folder, $work, which is removed in the end.
begin() {
	lode=$(realpath "$1")
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	# For what runs as another user.
	chmod 755 "$work"
	cd "$work" || exit 1
	touch err
	export LC_ALL=C.UTF-8
	unset LD_PRELOAD DEBUGINFOD_URLS
}

# needs COMMAND…: skips all where there is none of them.
needs() {
	local tool
	for tool; do command -v "$tool" >/dev/null || skip "there is no $tool"; done
}

# Skips all where the kernel lets nobody sample.
needs_sampling() {
	local refusal
	refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1) || skip "$refusal"
}
