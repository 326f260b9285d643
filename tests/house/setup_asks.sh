#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The set-up asks for root only when a package is missing, and says what to do where there is no
# way to it. dpkg-query, apt-get, id and sudo are stand-ins here; nothing is installed.
#
#   tests/house/setup_asks.sh SETUP
set -euo pipefail

setup=$1
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
number=0

# tool NAME BODY: a stand-in found before the real one.
tool() {
	printf '#!/bin/bash\n%s\n' "$2" >"$tools/bin/$1"
	chmod +x "$tools/bin/$1"
}

# begin USER_ID: a Debian where qemu-user is the only package that is not installed.
begin() {
	rm -rf "${tools:?}/bin"
	mkdir "$tools/bin"
	: >"$tools/calls"
	# What the script itself needs, and nothing else: no real sudo.
	for name in env mktemp rm tail bash; do
		ln -s "$(command -v $name)" "$tools/bin/$name"
	done
	tool id "echo $1"
	# shellcheck disable=SC2016 # expanded by the stand-in
	tool dpkg-query 'case ${!#} in qemu-user) exit 1 ;; *) echo -n installed ;; esac'
	tool apt-get "echo \"apt-get \$*\" >>'$tools/calls'"
}

run() {
	status=0
	said=$(PATH="$tools/bin" /bin/bash "$setup" 2>&1) || status=$?
	calls=$(cat "$tools/calls")
}

# verdict NAME CONDITION…: a 'test' expression.
verdict() {
	local name=$1
	shift
	number=$((number + 1))
	if test "$@"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		printf '# status %s; said: %s; calls: %s\n' "$status" "${said//$'\n'/ | }" "${calls//$'\n'/ | }"
	fi
}

echo "1..6"
begin 1000
tool dpkg-query 'echo -n installed'
run
verdict "nothing is missing: no root, no word" "$status$said$calls" = 0

begin 0
run
verdict "root installs what is missing" "$calls" = "apt-get -q -y update
apt-get -q -y install --no-install-recommends qemu-user"

begin 1000
tool sudo "echo sudo >>'$tools/calls'; exec \"\$@\""
run
verdict "a user installs through sudo" "${calls//$'\n'/ }" = \
	"sudo apt-get -q -y update sudo apt-get -q -y install --no-install-recommends qemu-user"

begin 1000
run
verdict "without root and sudo it fails" "$status$calls" = 1
verdict "and says what to run" -n "$([[ $said == *'apt-get install --no-install-recommends qemu-user'* ]] && echo yes)"

begin 0
tool apt-get 'echo "E: no network"; exit 100'
run
verdict "apt's own words are shown when it fails" -n "$([[ $status = 1 && $said == *'E: no network'* ]] && echo yes)"
