#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs the golden cases and prints TAP; see tests/golden/README.md for what a case is.
#
#   tests/golden/run.sh LODE [--update] [VERB | VERB/CASE … | --part K/N | --long]
#
# LODE is the built program. --update writes what came out in place of what was expected. --part K/N,
# with K from 1 to N: each Nth case of those that are not long; --long: those that are.
set -euo pipefail

if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: tests/golden/run.sh LODE [--update] [VERB | VERB/CASE … | --part K/N | --long]" >&2
	exit 2
fi
lode=$(realpath "$1")
shift
update=false
if [ "${1:-}" = --update ]; then
	update=true
	shift
fi
golden=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DATA=$(realpath -m "$golden/../data")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/mined" "$work/scratch"
ln -s "$lode" "$work/bin/lode"
# mined OPTION…: x.lode, of pairs.flow and mined so; caused: of causes.flow. Cases that only look at
# it share it.
cat >"$work/bin/mined" <<'END'
#!/bin/sh -e
flow=pairs
[ "${0##*/}" = mined ] || flow=causes
made=$MINED/$flow$(echo "$*" | tr -c 'a-z0-9.\n' _).lode
if [ ! -e "$made" ]; then
	lode import "$DATA/flow/$flow.flow" -o "$made.new" >/dev/null
	lode mine "$made.new" "$@" >/dev/null
	mv "$made.new" "$made"
fi
cp "$made" x.lode
END
chmod +x "$work/bin/mined"
ln -s mined "$work/bin/caused"

MINED=$work/mined
# LODE_PROGRESS: how much is printed of the progress depends on the machine.
export DATA MINED LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 LODE_PROGRESS=0 PATH="$work/bin:$PATH"
unset DEBUGINFOD_URLS COLUMNS

# What differs between two runs or two machines; the list in README.md says the same in words.
normalise() {
	sed -E \
		-e "s|$work/scratch|SCRATCH|g" \
		-e "s|$DATA|DATA|g" \
		-e "s|$lode|lode|g" \
		-e 's/\b[0-9]+(\.[0-9]+)? (ms|s|min)\b/TIME/g' \
		-e 's/("seconds": ?)[0-9.e+-]+/\1TIME/g' \
		-e 's/callgrind-3\.[0-9.]+/callgrind-VERSION/g' "$@"
}

shopt -s nullglob dotglob
# Runs a case in an empty directory; leaves actual.out, actual.err and actual.status in $work.
run_case() {
	local command=$1 status=0 left
	left=("$work"/scratch/*)
	[ ${#left[@]} -eq 0 ] || rm -rf "${left[@]}"
	(cd "$work/scratch" && exec bash -eu -o pipefail "$command") \
		>"$work/actual.out" 2>"$work/actual.err" </dev/null || status=$?
	normalise -i "$work/actual.out" "$work/actual.err"
	echo "$status" >"$work/actual.status"
}

# same_text FILE FILE: without a program, of which a thousand would be started. What holds a NUL is
# left to diff.
same_text() {
	local one other
	! IFS= read -r -d '' one <"$1" && ! IFS= read -r -d '' other <"$2" && [ "$one" = "$other" ]
}

# A missing .err is empty, a missing .status is 0.
echo 0 >"$work/success"
check_case() {
	local base=$1 part expected status=0
	for part in status out err; do
		expected=$base.$part
		[ -e "$expected" ] || case $part in
		status) expected=$work/success ;;
		*) expected=/dev/null ;;
		esac
		same_text "$expected" "$work/actual.$part" ||
			diff -u --label "expected .$part" --label "actual .$part" \
				"$expected" "$work/actual.$part" >>"$work/difference" || status=1
	done
	return $status
}

# is_refusal CASE: one command that ends with what its options were refused for.
is_refusal() {
	[ -e "$golden/$1.status" ] && [ "$(<"$golden/$1.status")" = 2 ] &&
		[ "$(grep -vc '^#' "$golden/$1.cmd")" -eq 1 ]
}

# is_long CASE: it says so.
is_long() { [[ "$(<"$golden/$1.cmd")" == *"# Long:"* ]]; }

# Without those that refuse options, but for the first of each verb: one parser reads them all.
without_refusals() {
	local name last=
	for name; do
		if is_refusal "$name"; then
			[ "${name%/*}" != "$last" ] || continue
			last=${name%/*}
		fi
		echo "$name"
	done
}

# of_length LONG_OR_SHORT CASE…
of_length() {
	local wanted=$1 name length
	shift
	for name; do
		length=short
		! is_long "$name" || length=long
		[ "$length" != "$wanted" ] || echo "$name"
	done
}

update_case() {
	local base=$1
	cp "$work/actual.out" "$base.out"
	rm -f "$base.err" "$base.status"
	[ ! -s "$work/actual.err" ] || cp "$work/actual.err" "$base.err"
	[ "$(cat "$work/actual.status")" = 0 ] || cp "$work/actual.status" "$base.status"
}

part=1/1
length=
case "${1:-}" in
--part)
	part=$2
	length=short
	shift 2
	;;
--long)
	length=long
	shift
	;;
esac
cases=()
for selected in "${@:-.}"; do
	if [ -e "$golden/$selected.cmd" ]; then
		cases+=("$selected")
	elif [ -d "$golden/$selected" ]; then
		mapfile -t found < <(cd "$golden" && find "$selected" -name '*.cmd' | sed 's|^\./||; s|\.cmd$||' | LC_ALL=C sort)
		cases+=("${found[@]}")
	else
		echo "golden: no case or verb '$selected'" >&2
		exit 2
	fi
done

# A case that is never run would be a case that cannot fail.
for stray in "$golden"/*/*.{out,err,status}; do
	[ ! -e "$stray" ] || [ -e "${stray%.*}.cmd" ] || {
		echo "Bail out! $stray has no .cmd"
		exit 1
	}
done

[ -z "$length" ] || mapfile -t cases < <(of_length "$length" "${cases[@]}")
# Under a sanitizer, where tests are short.
[ -z "${LODE_SHORT_TESTS:-}" ] || mapfile -t cases < <(without_refusals "${cases[@]}")

mapfile -t cases < <(printf '%s\n' "${cases[@]}" | sed -n "${part%/*}~${part#*/}p")

echo "1..${#cases[@]}"
number=0
failed=0
for name in "${cases[@]}"; do
	number=$((number + 1))
	: >"$work/difference"
	run_case "$golden/$name.cmd"
	if $update; then
		update_case "$golden/$name"
	fi
	if check_case "$golden/$name"; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		sed 's/^/# /' "$work/difference"
	fi
done
exit $failed
