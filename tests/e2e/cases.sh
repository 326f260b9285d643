# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Cases of a test script, as TAP. To be sourced; expects the standard error of what ran in ./err and
# its status in $status.

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
