# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of truth tables share, to be sourced: TAP, and the demands on a table. Expects
# truth.csv, the tables of trace_truth, in the working directory.

number=0
here=$(dirname "${BASH_SOURCE[0]}")

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
		printf '%s\n' "${faults[@]}" | sed 's/^/# /'
	fi
}

totals() { awk -f "$here/table.awk" truth.csv; }

nothing_wrong() { totals | awk '$6 > 0 { print $1 ": " $6 " of " $3 " are wrong" }'; }
nothing_refuted() { totals | awk '$1 == "refuted" && $2 > 0 { print $2 " of the truths are refuted" }'; }

# share_is_at_least RULE PERCENT
share_is_at_least() {
	totals | awk -v rule="$1" -v least="$2" '
		$1 == rule && $4 < least { print rule " claims " $4 " %, at least " least " wanted" }
		$1 == rule && $2 > 0 { found = 1 }
		END { if (!found) print rule " was asked nothing" }'
}

# can_trace TRACER: skips all where ptrace or fixed addresses are not allowed.
can_trace() {
	if ! refusal=$("$1" --steps 100 -- true 2>&1); then
		echo "1..0 # SKIP cannot step a program: $(echo "$refusal" | head -n 1)"
		exit 0
	fi
}

# demand AT_PC FORWARD BACKWARD TOGETHER TRIGGER: least shares in percent, and no error.
demand() {
	check 'no address is wrong' "$(nothing_wrong)"
	check 'the truth is true' "$(nothing_refuted)"
	check 'shares of the rules' "$(share_is_at_least at-pc "$1")" "$(share_is_at_least forward "$2")" \
		"$(share_is_at_least backward "$3")" "$(share_is_at_least together "$4")" \
		"$(share_is_at_least trigger-before "$5")" "$(share_is_at_least stepped "$1")"
	totals | sed 's/^/# /'
	grep -v '^ok' wrong | head -n 40 | sed 's/^/# /'
	echo "1..$number"
}

# rounds KERNEL: so that three threads with 20000 elements run for about a sixth of a second, or
# half of one where LODE_LONG_TESTS is in the environment.
rounds() {
	local n
	case $1 in
	arguments) n=60000 ;;
	copying) n=4000 ;;
	hash_table) n=500 ;;
	interpreter) n=1500 ;;
	matrix_multiply) n=80 ;;
	overwriting) n=1500 ;;
	pointer_chase) n=800 ;;
	sorting) n=120 ;;
	streaming) n=9000 ;;
	*) n=100 ;;
	esac
	[ -n "${LODE_LONG_TESTS:-}" ] || n=$((n / 3))
	echo $n
}
