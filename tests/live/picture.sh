#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lode memory record --live in a real terminal: tmux runs it, presses keys and reads the screen.
#
#   picture.sh LODE PROGRAM
set -uo pipefail

lode=$(realpath "$1")
program=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/../e2e/cases.sh"

directory=$(mktemp -d)
socket=$directory/socket
# shellcheck disable=SC2317 # called by the trap
leave() {
	terminal kill-server 2>/dev/null
	rm -rf "$directory"
}
trap leave EXIT
cd "$directory" || exit 1
: >err

terminal() { tmux -f /dev/null -S "$socket" "$@"; }
screen() { terminal capture-pane -p; }
press() { terminal send-keys "$@"; }
type_line() { terminal send-keys -l -- "$1" && terminal send-keys Enter; }

# wait_for PATTERN [PATTERN…]: until the screen shows all of them; says what it did not.
wait_for() {
	local pattern shown missing
	for _ in $(seq 300); do
		shown=$(screen)
		missing=
		for pattern; do
			grep -Eq -- "$pattern" <<<"$shown" || missing=$pattern
		done
		[ -n "$missing" ] || return 0
		sleep 0.1
	done
	echo "no '$missing' on the screen:"
	while IFS= read -r line; do echo "#   $line"; done <<<"$shown"
}

# is_gone PATTERN: a screen may be read while it is being drawn.
is_gone() {
	for _ in $(seq 100); do
		screen | grep -Eq -- "$1" || return 0
		sleep 0.1
	done
	echo "'$1' is on the screen"
}

# in_the_end COMMAND…: until it prints no fault. A busy machine gives samples late.
in_the_end() {
	local fault
	for _ in $(seq 100); do
		fault=$("$@")
		[ -n "$fault" ] || return 0
		sleep 0.1
	done
	echo "$fault"
}

# start COMMAND: on a screen of its own. end_with STATUS PATTERN…: what is on it in the end.
runs=0
start() {
	runs=$((runs + 1))
	type_line "clear; $1; echo end$runs=\$?"
}
end_with() {
	local ending=$1
	shift
	wait_for "^end$runs=$ending\$" "$@"
}

# The lines of the table: address, share, loads, stores, threads, object, function.
table() { screen | grep -E '^ *[0-9a-f]{6,12} +[0-9.]+ %'; }
# Drawn to the end: the same twice. What never rests is printed as it was last.
settled_table() {
	local now last
	now=$(table)
	for _ in $(seq 20); do
		last=$now
		sleep 0.2
		now=$(table)
		[ "$now" != "$last" ] || break
	done
	echo "$now"
}
# differs_from TABLE FAULT
differs_from() { [ "$1" != "$(table)" ] || echo "$2"; }
is_empty() { [ -z "$(table)" ] || echo "something was counted"; }
has_lines() { [ "$(table | awk '$1 !~ /000$/' | wc -l)" -gt 0 ] || echo "only pages are listed"; }

# The terminal is as a shell wants it, and what was on it before is there again.
is_sane() {
	local modes
	[ "$(terminal display -p '#{alternate_on}')" = 0 ] || echo "the picture is still there"
	[ "$(terminal display -p '#{cursor_flag}')" = 1 ] || echo "there is no cursor"
	modes=$(stty -a -F "$(terminal display -p '#{pane_tty}')")
	grep -q ' -icanon' <<<"$modes" && echo "no lines are read"
	grep -q ' -echo ' <<<"$modes" && echo "nothing is echoed"
	grep -q 'susp = ^Z' <<<"$modes" || echo "Ctrl-Z does nothing"
	true
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

command -v tmux >/dev/null || skip_all "no tmux"
"$lode" record -o trial.data -e cpu-clock:u -- true >/dev/null 2>trial.err ||
	skip_all "$(head -n 1 trial.err)"
# A shell that leaves the terminal's modes alone.
terminal -u new-session -d -x 100 -y 30 \
	"env -u NO_COLOR TERM=screen-256color LC_ALL=C.UTF-8 PS1='ready> ' sh" ||
	skip_all "tmux does not start"
wait_for 'ready> ' >/dev/null

# --- what is seen ---

type_line "$lode memory record --live -o x.lode -- $program 60"
check "the picture shows both threads and what they access" \
	"$(wait_for '^ all .*█' '^ 0 two_threads .*[▒▓█]' '^ 1 two_threads .*█' 'store_all')" \
	"$(is_gone 'loaded 0x')"

press o
fault=$(wait_for 'loaded 0x[0-9a-f]+ stored 0x[0-9a-f]+')
read -r loaded stored < <(screen | sed -nE 's/.*loaded 0x([0-9a-f]+) stored 0x([0-9a-f]+).*/\1 \2/p')
check "the program's output is on a page of its own" "$fault"
press o
wait_for '^ *address' >/dev/null

# ranges_of THREAD START SIZE FUNCTION: all that it accesses lies there.
ranges_of() {
	local thread=$1 start=$((16#$2)) end=$((16#$2 + $3)) function=$4 n=0 address threads rest
	while read -r address _ _ _ _ threads rest; do
		if [ "$threads" != "$thread" ] || [[ $rest != *" $function"* ]]; then continue; fi
		n=$((n + 1))
		if ((16#$address < start || 16#$address >= end)); then
			echo "$function: $address is outside $2 + $3"
		fi
	done < <(table)
	((n >= 5)) || echo "only $n ranges of $function by thread $thread"
}
check "stores of the second thread are where its array is" \
	"$(in_the_end ranges_of 1 "$stored" $((8 << 13)) store_all)"
press Down f
fault=$(wait_for 'tagged threads' '^\*0 two_threads')
check "a tagged thread is seen alone" "$fault" "$(is_gone '^.1 two_threads')" \
	"$(in_the_end ranges_of 0 "$loaded" $((8 << 16)) load_all)"
press u
check "and all of them again" "$(wait_for '^ 1 two_threads')"

# --- what keys change ---

press g
fault=$(wait_for '^line \(64 B\)')
check "g: by line" "$fault" "$(in_the_end has_lines)"
press g
fault=$(wait_for '^word \(8 B\)')
check "g: by word" "$fault"
press g '>'
check "larger than a page" "$(wait_for '^by 8 KiB')"
press '<'
wait_for '^page' >/dev/null

press Home +
fault=$(wait_for 'zoom 1: [0-9a-f]+-[0-9a-f]+ .*in view')
check "zoomed into the first range, the others are not seen" "$fault" \
	"$(is_gone 'store_all')"
press + +
fault=$(wait_for 'zoom 3: ')
press - - -
check "and out again" "$fault" "$(wait_for 'all addresses' 'store_all')"

press l
fault=$(wait_for '  loads  ')
check "loads alone" "$fault" "$(is_gone 'store_all')"
press l
fault=$(wait_for '  stores  all addresses' 'store_all')
check "stores alone" "$fault" "$(is_gone 'load_all')"
press l

press p
fault=$(wait_for '^PAUSED')
before=$(settled_table)
sleep 1
after=$(settled_table)
check "a paused picture stands still" "$fault" \
	"$([ -n "$before" ] && [ "$before" = "$after" ] || echo 'it has changed')"
press p
check "and goes on" "$(is_gone PAUSED)" "$(in_the_end differs_from "$before" 'it has not changed')"

press s
fault=$(wait_for '^SAMPLING OFF .* 0 samples/s')
before=$(settled_table)
sleep 1
check "sampling stops" "$fault" "$([ "$before" = "$(settled_table)" ] || echo 'samples came')"
press s
check "and starts again" "$(is_gone 'SAMPLING OFF')" \
	"$(in_the_end differs_from "$before" 'no samples came')"

press z r
check "frozen counts stay empty" "$(wait_for 'FROZEN')" "$(in_the_end is_empty)" \
	"$(sleep 0.6; is_empty)"
press z
check "counts go on" "$(wait_for 'store_all')"

press h
check "help" "$(wait_for 'quit the picture' 'any key: back')"
press h
terminal resize-window -x 40 -y 10
check "a small terminal" "$(wait_for '^h help  q quit' '^page \(4 KiB\)' '^ all .*█')"
terminal resize-window -x 30 -y 8
check "one that is too small" "$(wait_for 'too small')"
terminal resize-window -x 100 -y 30
check "a large one again" "$(wait_for '^ 1 two_threads .*█' 'r reset')"

# --- ends ---

press C-c
check "Ctrl-C ends the program, and what it wrote is shown" \
	"$(wait_for 'loaded 0x' 'samples of' && type_line 'echo status=$?' && wait_for 'status=130')" \
	"$(is_sane)"

start "$lode memory record --live -o x.lode -- $program 5"
wait_for '^ 1 two_threads' >/dev/null
press q
fault=$(wait_for 'loaded 0x' 'the recording goes on')
sane=$(is_sane)
check "q leaves the picture, the recording goes on" "$fault" "$sane" "$(is_gone 'samples of')" \
	"$(wait_for '^sum ' 'samples of' && end_with 0)" \
	"$([ -s x.lode ] || echo 'no profile')"

start "$lode memory record --live --allocations -o x.lode -- $program 60 heap"
check "what was allocated is named after the place that did" \
	"$(wait_for 'malloc@two_threads.c' 'uint64_t loaded\[\]')"
press C-c
wait_for "^end$runs=" >/dev/null

# crash NAME OF COMMAND: sends it a signal that it does not bear.
crash() { kill -SEGV "$(ps -o pid= --ppid "$(terminal display -p '#{pane_pid}')" | head -n 1)"; }
# Long enough for a busy machine to draw: it ends with lode, or with the terminal.
start "LC_ALL=C $lode memory record --live -o x.lode -- $program 20"
check "ASCII where the locale has no more" "$(wait_for '^ 1 two_threads .*\|.*@')"
crash
check "a crash of lode leaves the terminal as it was" "$(end_with 139)" "$(is_sane)"

start "$lode memory record --live -o x.lode -- sh -c 'kill -SEGV \$\$'"
check "so does a crash of the program" "$(end_with '(139|1)')" "$(is_sane)"

start "TERM=dumb $lode memory record --live -o x.lode -- $program 0.3"
check "no picture on a dumb terminal, but a recording" \
	"$(end_with 0 '^lode memory record: --live: the terminal cannot' '^loaded 0x')"

start "TERM=nonesuch $lode memory record --live -o x.lode -- $program 0.3"
check "nor on an unknown one" "$(end_with 0 'of a kind that is unknown' '^loaded 0x')" "$(is_sane)"

setsid "$lode" memory record --live -o y.lode -- "$program" 0.3 >out 2>err
status=$?
check "nor where there is none" "$(status_is 0)" \
	"$(grep -q -- '--live: no terminal to show' err || echo 'not said')" \
	"$(grep -q '^loaded 0x' out || echo 'the output is lost')"
: >err

start "echo piped | $lode memory record --live -o x.lode -- sh -c 'cat; $program 0.3' >out; cat out"
check "an input that is no terminal stays, so does an output" \
	"$(end_with 0 '^piped' '^loaded 0x' 'samples of')"

echo "1..$number"
