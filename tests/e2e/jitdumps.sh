#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Where the code that Node.js compiles is written down while `lode run` records it, what becomes of
# the files of others there, and what stays when lode is killed. A program stands in for Node.js.
# Prints TAP; skips where the kernel lets nobody sample.
#
#   tests/e2e/jitdumps.sh LODE NODE      NODE: stand_in_node.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

node=$(realpath "$2")
begin "$1"
mkdir bin elsewhere
cp "$node" bin/node
PATH=$work/bin:$PATH
needs_sampling

knows_code() { "$lode" info "$1" --format csv | grep '^image.*jit' >/dev/null || echo "$1 has no code made at run time"; }
left_none() { ! compgen -G '*jit-*.dump*' >/dev/null || echo "left $(echo ./*jit-*)"; }
says() { grep -qE -e "$1" err || echo "stderr does not say '$1'"; }
is_still() { [ "$(cat "$1" 2>/dev/null)" = "$2" ] || echo "$1 is not as it was"; }
temporary_is_empty() { [ -z "$(ls -A "$TMPDIR")" ] || echo "left $(ls -A "$TMPDIR")"; }

# run WORD…: sets $status; x.lode is the profile.
run() {
	rm -rf x.lode wrote.* go
	"$lode" run -F 10000 -o x.lode -- node "$@" >out 2>err
	status=$?
}

# until_has_written N: so many dumps are open
until_has_written() {
	local i
	for ((i = 0; i < 6000; i++)); do
		[ "$(compgen -G 'wrote.*' | wc -l)" -lt "$1" ] || break
		sleep 0.01
	done
}

# Beside the current directory, and where there is one on another file system.
mkdir tmp
places=("$work/tmp")
if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
	other=$(mktemp -d -p /dev/shm)
	trap 'rm -rf "$work" "$other"' EXIT
	places+=("$other")
fi

for place in "${places[@]}"; do
	export TMPDIR=$place

	run
	check "a dump in the current directory is used, and goes ($place)" "$(status_is 0)" \
		"$(knows_code x.lode)" "$(left_none)" "$(temporary_is_empty)"

	run foreign
	check "a file of another process stays as it is ($place)" "$(status_is 0)" "$(knows_code x.lode)" \
		"$(is_still jit-77777.dump 'a dump of somebody else')"
	rm -f jit-77777.dump

	rm -f go wrote.*
	"$lode" run -F 10000 -o first.lode -- node waits >out 2>err &
	first=$!
	"$lode" run -F 10000 -o second.lode -- node waits >out.second 2>err.second &
	second=$!
	until_has_written 2
	touch go
	wait "$first"
	status=$?
	wait "$second"
	check "each of two runs side by side has its own code ($place)" "$(status_is 0)" \
		"$(knows_code first.lode)" "$(knows_code second.lode)" "$(left_none)"

	rm -f go wrote.*
	"$lode" run -F 10000 -o x.lode -- node waits >out 2>err &
	killed=$!
	until_has_written 1
	for ((i = 0; i < 6000; i++)); do
		compgen -G 'jit-*.dump' >/dev/null || break
		sleep 0.01
	done
	kill -9 "$killed"
	wait "$killed" 2>/dev/null
	check "a killed run leaves no dump in the current directory ($place)" "$(left_none)"
	# The program goes on without lode, until it is told to end.
	orphan=$(echo wrote.*)
	touch go
	while kill -0 "${orphan#wrote.}" 2>/dev/null; do sleep 0.01; done
	run
	check "and the next one removes what it left elsewhere ($place)" "$(temporary_is_empty)"
done

run broken
check "a broken dump costs its own code only, and is said" "$(status_is 0)" "$(holds [ -s x.lode ])" \
	"$(says 'jit-[0-9]*\.dump: .*; the code that it describes is not known')" "$(left_none)"

run unmapped
check "a dump that is not mapped is found by its process" "$(status_is 0)" "$(knows_code x.lode)" "$(left_none)"

run child
check "a process that works in another directory" "$(status_is 0)" "$(knows_code x.lode)" \
	"$(compgen -G 'elsewhere/jit-*' | sed 's/^/left /')"

LODE_TEST_NODE_OPTIONS='  --perf-prof-path (directory to write to)' run
check "Node.js that can be told a directory writes there at once" "$(status_is 0)" "$(knows_code x.lode)" \
	"$(grep -q "^$TMPDIR/lode-run-" wrote.* || echo "it wrote $(cat wrote.*)")" "$(left_none)"

# Who asks for a dump finds it.
run --perf-prof
check "a dump that the user asked for stays" "$(status_is 0)" "$(knows_code x.lode)" \
	"$(compgen -G 'jit-*.dump' >/dev/null || echo "it is gone")"
echo "1..$number"
