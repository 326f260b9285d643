#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# docs/reference/causes.md has each cause that a diagnosis can have, and no other: those of the rules in
# causes.ini, services.ini and programs.ini, and those that the code names. Prints TAP.
#
#   tests/house/causes_documented.sh ROOT
set -euo pipefail

cd "$1"
export LC_ALL=C
folder=src/analyses/diagnoses

made() {
	sed -n 's/^cause = //p' $folder/causes.ini $folder/services.ini $folder/programs/programs.ini
	sed -nE 's/.*lode_diagnosis_new\("([a-z0-9-]+)".*/\1/p' $folder/*.c
}

# The words in the first column of its tables.
documented() {
	# shellcheck disable=SC2016 # Markdown's quotes
	sed -nE '/^## The causes/,/^## Time/s/^\| `([a-z0-9-]+)` \|.*/\1/p' docs/reference/causes.md
}

# verdict NUMBER NAME LINES
verdict() {
	if [[ -z $3 ]]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "# ${3//$'\n'/, }"
	fi
}

echo "1..4"
verdict 1 "there are rules with a cause" "$([[ $(made | sort -u | wc -l) -gt 40 ]] || echo too few)"
verdict 2 "each cause is documented" "$(comm -23 <(made | sort -u) <(documented | sort -u))"
verdict 3 "each documented cause is made" "$(comm -13 <(made | sort -u) <(documented | sort -u))"
verdict 4 "each is documented once" "$(documented | sort | uniq -d)"
