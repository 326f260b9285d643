#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The name of a function stands in families.ini or in services.ini, not in both: families.ini says
# for which services a name is. "*" is no name. Prints TAP.
#
#   tests/house/names_once.sh ROOT
set -euo pipefail

cd "$1/src/analyses"
export LC_ALL=C
families=calls/families.ini
services=diagnoses/services.ini

# patterns FILE: those of functions, one a line, each once.
patterns() { sed -nE 's/^(functions|for [^=]+) = //p' "$1" | tr ';' '\n' | sort -u; }

users() { sed -nE 's/^for ([^=]+) = .*/\1/p' $families | tr ';' '\n' | sort -u; }

groups() { sed -nE 's/^\[(.*)\]$/\1/p' $services | sort -u; }

# verdict NUMBER NAME LINES
verdict() {
	if [[ -z $3 ]]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "# ${3//$'\n'/, }"
	fi
}

echo "1..3"
verdict 1 "there are names" "$([[ $(patterns $families | wc -l) -gt 2000 ]] || echo too few)"
verdict 2 "none is in both files" "$(comm -12 <(patterns $families) <(patterns $services) | grep -vx '\*')"
verdict 3 "each service that has names exists" "$(comm -23 <(users) <(groups))"
