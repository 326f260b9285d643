#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Functions and lines of a Python program that measures its own time. Prints TAP; skips where the
# kernel lets nobody sample, and where there is no CPython from 3.8 to 3.14. All versions that pyenv
# has are tried.
#
#   tests/e2e/python.sh LODE SOURCES REFUSE      SOURCES: the folder of known_lines.py
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")
refuse=$(realpath "$3")
begin "$1"
pyenv=${PYENV_ROOT:-$HOME/.pyenv}
export HOME=$work

needs python3 gcc
needs_sampling

# CPython's versions that are here, the first of which is used below.
pythons=() versions=()
for candidate in /usr/bin/python3 python3 "$pyenv"/versions/*/bin/python3; do
	version=$("$candidate" -c 'import sys
if sys.implementation.name == "cpython" and (3, 8) <= sys.version_info < (3, 15):
    print("%d.%d" % sys.version_info[:2])' 2>err)
	[[ -z $version || " ${versions[*]} " == *" $version "* ]] && continue
	versions+=("$version") pythons+=("$candidate")
done
[ ${#pythons[@]} -gt 0 ] || skip "no CPython from 3.8 to 3.14"
python=${pythons[0]}
cp "$sources/known_lines.py" app.py

for i in "${!pythons[@]}"; do
	[ "$i" -eq 0 ] || export KNOWN_SECONDS=0.3
	"$lode" run -o other.lode -- "${pythons[i]}" app.py truth >out 2>err
	status=$?
	"$lode" report other.lode --functions --format json >functions.json 2>>err
	"$lode" report other.lode --lines --format json >lines.json 2>>err
	check "shares, ${versions[i]}" "$(status_is 0)" \
		"$(python3 "$sources/known_lines_check.py" truth functions.json lines.json 2>&1)"
	[ "$i" -gt 0 ] || { mv other.lode app.lode && mv truth first; }
done

unset KNOWN_SECONDS
"$lode" report app.lode >out 2>err
status=$?
check "the first screen" "$(status_is 0)" "$(holds grep -qE '^ *[0-9.]+ %  app.py:16 in (Table\.)?find' out)"

find=$(awk 'NR == 1 { print $1 }' first)
"$lode" report app.lode --callers "$find" >out 2>err
status=$?
check "callers" "$(status_is 0)" "$(holds grep -q 'app.py' out)"

"$lode" run --native -o native.lode -- "$python" app.py truth >out 2>err
"$lode" report native.lode --functions --format json >functions.json 2>>err
status=$?
check "without the script" "$(status_is 0)" "$(grep -q '"language": *"python"' functions.json && echo 'a function of Python')"

# lines_by NAME COMMAND…: the shares of what it records into by.lode
lines_by() {
	local name=$1
	shift
	"$@" >out 2>err
	status=$?
	"$lode" report by.lode --functions --format json >functions.json 2>>err
	"$lode" report by.lode --lines --format json >lines.json 2>>err
	check "$name" "$(status_is 0)" \
		"$(python3 "$sources/known_lines_check.py" truth functions.json lines.json 2>&1)"
}
lines_by "without looks at waits" "$lode" run --no-waits -o by.lode -- "$python" app.py truth
if "$refuse" perf EPERM true 2>err; then
	lines_by "where perf events are refused" \
		"$refuse" perf EPERM "$lode" run -o by.lode -- "$python" app.py truth
else
	number=$((number + 1))
	echo "ok $number - where perf events are refused # SKIP no system-call filter can be set"
fi

# Programs that are named as an interpreter, and have none of its symbols.
echo 'int main(void) { for (volatile long i = 0; i < 800000000; i++); }' >named.c
for name in python3.99 pypy3.99; do
	gcc named.c -o $name 2>err && "$lode" run -o named.lode -- ./$name >out 2>err
	status=$?
	check "an interpreter that is not read, $name" "$(status_is 0)" \
		"$(holds grep -q "'$work/$name' is of a version, or built in a way, that lode does not read" err)"
done

# kind NAME SCRIPT COMMAND…: a program of python_kinds.py, whose script's name ends so
kinds=() scripts=()
kind() {
	kinds+=("$1") scripts+=("$2")
	printf 'KIND=%q ' "$1" >>all.sh
	shift 2
	printf '%q ' "$@" >>all.sh
	echo '; echo $?' >>all.sh
}
copy() { cp "$sources/scripts/python_kinds.py" "$1" && echo "$1"; }
mkdir truths package zipped
copy package/__main__.py >/dev/null
copy zipped/__main__.py >/dev/null
"$python" -m zipapp zipped -o app.pyz
chmod +x "$(copy direct.py)"
sed -i "1s,.*,#!$(command -v "$python")," direct.py
kind module package/__main__.py "$python" -m package
kind direct direct.py ./direct.py
kind command '<string>' "$python" -c "$(cat direct.py)"
kind zip app.pyz/__main__.py "$python" app.pyz
kind named größe.py "$python" "$(copy größe.py)"
for name in coroutines generators threads processes forks deep signals faults calls; do
	kind $name $name.py "$python" "$(copy $name.py)"
done
kind debugged debugged.py env PYTHONMALLOC=debug "$python" "$(copy debugged.py)"
# shellcheck disable=SC2046
if gcc "$sources/scripts/embedded_python.c" -o embedded \
	$("$python"-config --includes --embed --ldflags 2>err) 2>>err; then
	kind embedded embedded.py ./embedded "$(copy embedded.py)"
fi
export TRUTH=$work/truths
KNOWN_SECONDS=0.03 bash all.sh >plain 2>err
KNOWN_SECONDS=0.15 "$lode" run -o kinds.lode -- bash all.sh >out 2>err
status=$?
check "kinds of programs print the same" "$(status_is 0)" "$(diff plain out)"
"$lode" report kinds.lode --functions --format json >functions.json 2>>err
for i in "${!kinds[@]}"; do
	check "kind: ${kinds[i]}" "$(python3 "$sources/scripts/python_kinds_check.py" \
		functions.json "truths/${kinds[i]}" "${scripts[i]}" 2>&1)"
done
echo "1..$number"
