#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode run` passes through and what it leaves behind, with real programs under the real
# valgrind. Prints TAP.
#
#   tests/e2e/run.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
mkdir tmp
export TMPDIR=$work/tmp

output_is() { [ "$(head -n 1 out)" = "$1" ] || echo "printed '$(head -n 1 out)', not '$1'"; }
has_profile() { [ -s x.lode ] || echo "no profile"; }
has_no_profile() { [ ! -e x.lode ] || echo "a profile"; }
ran() { [ "$(wc -l <runs)" -eq "$1" ] || echo "ran $(wc -l <runs) times, not $1"; }
left_nothing() { [ -z "$(ls -A tmp)" ] || echo "left $(ls -A tmp)"; }

# run COMMAND…: to its end; sets $status.
run() {
	rm -f x.lode
	"$lode" run --exact --fast -o x.lode -- "$@" >out 2>err
	status=$?
}

# Starts a command in a process group of its own and waits for its program to say "ready".
start() {
	rm -f x.lode
	: >out
	set -m
	"$lode" run --exact --fast -o x.lode -- "$@" >out 2>err &
	lode_pid=$!
	set +m
	until grep -qx ready out; do
		kill -0 "$lode_pid" 2>/dev/null || break
		sleep 0.05
	done
}

finish() {
	wait "$lode_pid" 2>/dev/null
	status=$?
}

forever='while :; do :; done'

run sh -c 'echo hello; (exit 3); exit 7'
check "the exit status passes through" "$(status_is 7)" "$(output_is hello)" "$(has_profile)" \
	"$(left_nothing)"

run sh -c 'kill -SEGV $$' 2>/dev/null
check "a crash passes through, and what ran until then is there" "$(status_is 139)" \
	"$(has_profile)" "$(left_nothing)"

echo word >in
run sh -c 'read x; [ "$x" = word ]' <in
check "standard input passes through" "$(status_is 0)"

run sh -c '! read x' <&- 2>/dev/null
check "closed standard input gives nothing" "$(status_is 0)" "$(has_profile)" "$(left_nothing)"

start sh -c "trap 'echo handled >handled; exit 5' TERM; echo ready; $forever"
kill -TERM "$lode_pid"
finish
check "SIGTERM reaches the program, and lode ends by it" "$(status_is 143)" "$(has_no_profile)" \
	"$([ -e handled ] || echo 'the program has not seen it')" "$(left_nothing)"

start sh -c "echo ready; $forever"
kill -HUP "$lode_pid"
finish
check "SIGHUP ends both" "$(status_is 129)" "$(has_no_profile)" "$(left_nothing)"

start sh -c "echo ready; $forever"
kill -INT -- "-$lode_pid"
finish
check "Ctrl-C ends the program, and what it did until then is there" "$(status_is 130)" \
	"$(has_profile)" "$(left_nothing)"

start sh -c "trap 'exit 4' INT; echo ready; $forever"
kill -INT -- "-$lode_pid"
finish
check "a program that handles Ctrl-C ends as it likes" "$(status_is 4)" "$(has_profile)" \
	"$(left_nothing)"

if "$lode" record -o trial -e cpu-clock:u -- true >/dev/null 2>&1; then
	# Busy in the first run, which is sampled: counting that would take long.
	# shellcheck disable=SC2016
	busy='echo run >>runs; i=0; [ ! -e ran ] || i=59000; : >ran
		while [ $i -lt 60000 ]; do i=$((i + 1)); done; exit 3'
	rm -f x.lode runs ran
	"$lode" run -F 10000 -o x.lode -- sh -c "$busy" >out 2>err
	status=$?
	check "a program runs once, sampled" "$(status_is 3)" "$(ran 1)" "$(has_profile)" \
		"$("$lode" info x.lode | grep 'inferred' >/dev/null || echo 'its counts are not inferred')" \
		"$(left_nothing)"

	ids() { "$lode" report x.lode "$@" --all --format csv | md5sum; }
	n_sequences() { "$lode" info x.lode --format json | grep -o '"sequences":[0-9]*' | head -n 1; }
	before=$(n_sequences)
	"$lode" annotate x.lode 1 >out 2>err
	status=$?
	check "its sequences are not mined yet; a question about one mines them" "$(status_is 0)" \
		"$([ "$before" = '"sequences":0' ] || echo "there were $before")" \
		"$([ "$(n_sequences)" != "$before" ] || echo "there are none")" "$([ -s out ] || echo nothing)"
	"$lode" report x.lode >first && listed=$(ids) && "$lode" mine x.lode --name whole >out
	status=$?
	"$lode" report x.lode main >again
	check "they are mined when they are listed, as by lode mine" "$(status_is 0)" \
		"$([ "$listed" = "$(ids whole)" ] || echo 'they differ')" \
		"$([ "$(n_sequences)" != '"sequences":0' ] || echo 'they are not kept')" \
		"$(diff <(grep F1 first | head -n 1) <(grep F1 again | head -n 1) || echo 'findings differ')"

	rm -f x.lode ran
	"$lode" run -F 10000 -o x.lode --gap 1 --min-support 20% -- sh -c "$busy" >out 2>err
	status=$?
	check "an option of sequences mines them at once" "$(status_is 3)" \
		"$([ "$(n_sequences)" != '"sequences":0' ] || echo 'there are none')"

	rm -f x.lode runs ran
	"$lode" run --count --fast -o x.lode -- sh -c "$busy" >out 2>err
	status=$?
	check "--count runs it a second time" "$(status_is 3)" "$(ran 2)" "$(has_profile)" \
		"$("$lode" info x.lode | grep 'exact' >/dev/null || echo 'its counts are not exact')" \
		"$(left_nothing)"

	# In two runs the second would start the program once more.
	set -m
	"$lode" run --count -o x.lode -- sh -c "trap 'exit 4' INT; echo ready; $forever" >out 2>err &
	lode_pid=$!
	set +m
	until grep -q ready out; do sleep 0.05; done
	sleep 0.5
	kill -INT -- "-$lode_pid"
	finish
	check "Ctrl-C in the sampled run leaves the counting run out" "$(status_is 4)" "$(has_profile)" \
		"$(grep -q 'not run again' err || echo 'it does not say so')" "$(left_nothing)"
	rm -f trial
fi

# Nobody reads the pipe that the report goes to: lode stands still until it is stopped for good.
mkfifo report
rm -f x.lode
set -m
"$lode" run --exact --fast -o x.lode --report report -- true >out 2>err &
lode_pid=$!
set +m
until [ -e x.lode ]; do sleep 0.05; done
while kill -INT -- "-$lode_pid" 2>/dev/null; do sleep 0.3; done
finish
check "a second Ctrl-C ends lode at once and leaves nothing" "$(status_is 130)" "$(left_nothing)"
echo "1..$number"
