#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What is said, and what is left behind, when lode or the program that it records is cut short: by
# limits of files, memory and descriptors, by signals, by a crash. Prints TAP.
#
#   tests/e2e/cut_short.sh LODE FLOW
#
# FLOW is a flow file to make a profile of. With LODE_LONG_TESTS in the environment, memory runs out at
# many more places.
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

flow=$(realpath "$2")
begin "$1"
mkdir tmp
export TMPDIR=$work/tmp

says() { grep -qE "$1" err || echo "does not say '$1'"; }
left_nothing() { [ -z "$(ls -A tmp; find . -name '*.tmp*' -type f)" ] || echo "left $(ls -A tmp) $(find . -name '*.tmp*')"; }
has() { [ -s "$1" ] || echo "no $1"; }
has_not() { [ ! -e "$1" ] || echo "a $1"; }

# limited FLAG VALUE COMMAND…: lode under a limit of the shell's ulimit; sets $status.
limited() {
	local flag=$1 value=$2
	shift 2
	status=0
	(ulimit "$flag" "$value" && exec "$lode" "$@") >out 2>err || status=$?
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

can_sample=true
"$lode" record -e cpu-clock:u -o trial -- true >/dev/null 2>&1 || can_sample=false

# --- files that would grow too large ---

limited -f 8 import "$flow" -o x.lode
check "import: a profile above RLIMIT_FSIZE" "$(status_is 1)" "$(says 'x.lode: .*File too large')" \
	"$(has_not x.lode)" "$(left_nothing)"

if $can_sample; then
	# shellcheck disable=SC2016
	long='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	limited -f 8 record -e cpu-clock:u -F 10000 -o x.data -- sh -c "$long"
	check "record: a recording above RLIMIT_FSIZE" "$(status_is 1)" "$(says 'File too large')" "$(left_nothing)"
	limited -f 8 run -F 10000 -o x.lode -- sh -c "$long"
	check "run: names no file that is gone, but what to do" "$(status_is 1)" \
		"$(says "cannot be written in '.*/tmp' \(TMPDIR\): File too large; raise the limit")" "$(left_nothing)"
	limited -f 64 record -e cpu-clock:u -o x.data -- sh -c 'grep ^Sig /proc/self/status'
	check "the program has the signal as it is by default" "$(status_is 0)" \
		"$(grep -qE '^SigIgn:\s*[0-9a-f]{9}[02468ace]' out || echo "it is ignored: $(grep SigIgn out)")"
	"$lode" record -e cpu-clock:u -o x.data -- true >out 2>err
	head -c 2000 x.data >cut.data
	status=0
	"$lode" import cut.data -o x.lode >out 2>err || status=$?
	check "import: says that a recording is cut short" "$(status_is 0)" "$(has x.lode)" \
		"$(says '^lode import: warning: cut.data: the recording is cut short or damaged; what is whole was imported$')"
else
	for name in "record: a recording above RLIMIT_FSIZE" "run: names no file that is gone, but what to do" \
		"the program has the signal as it is by default" \
		"import: says that a recording is cut short"; do
		skip "$name" "sampling is not allowed here"
	done
fi
rm -f x.* cut.data

# --- memory ---

"$lode" import "$flow" -o whole.lode >/dev/null 2>&1
cp whole.lode mined.lode
"$lode" mine mined.lode --min-support 0.1% >/dev/null 2>&1
# A sanitizer maps terabytes.
limited -v 4000000 --version
if [ "$status" -ne 0 ]; then
	for verb in import mine report; do skip "$verb: without memory" "this build needs more"; done
else
	smallest=20000
	until [ "$status" -eq 0 ] && [ "$smallest" -gt 20000 ]; do
		smallest=$((smallest + 2000))
		limited -v "$smallest" --version
	done
	step=12000
	[ -z "${LODE_LONG_TESTS:-}" ] || step=2000
	# sweep VERB ARGUMENT…: with ever more memory, up to where it suffices
	sweep() {
		local size=$smallest n_told=0 faults=()
		while [ "$size" -lt 400000 ]; do
			cp whole.lode x.lode
			limited -v "$size" "$@"
			[ "$status" -ne 0 ] || break
			[ "$status" -eq 1 ] || faults+=("with $size kB status $status")
			! grep -q '^lode: out of memory' err || n_told=$((n_told + 1))
			# GLib's slices and libdw print a line of their own first.
			tail -n 1 err | grep -qE 'lode|libdw' || faults+=("with $size kB no word of it")
			size=$((size + step))
		done
		[ "$n_told" -gt 0 ] || faults+=("never says 'out of memory'")
		check "$1: without memory" "$(status_is 0)" "${faults[@]}" "$(left_nothing)"
	}
	sweep import "$flow" -o y.lode
	sweep mine x.lode --min-support 0.1% --threads 2
	sweep report mined.lode
fi

# --- descriptors ---

if $can_sample; then
	limited -n 7 record -e cpu-clock:u -o x.data -- true
	check "record: no descriptor left" "$(status_is 1)" "$(says 'RLIMIT_NOFILE allows 7; .ulimit -n [0-9]+. raises it')"
else
	skip "record: no descriptor left" "sampling is not allowed here"
fi

# --- signals that the program ignores ---

deaf='trap "" INT; echo ready; while :; do :; done'

# insist SIGNAL VERB OPTION…: Ctrl-C, as from a terminal, until lode says that it sends SIGNAL
insist() {
	local pid n=0 signal=$1
	shift
	: >out
	set -m
	"$lode" "$@" -- sh -c "$deaf" >out 2>err &
	pid=$!
	set +m
	until grep -qx ready out || ! kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	sleep 0.3
	until grep -q "ended by $signal" err || ! kill -INT -- "-$pid" 2>/dev/null; do
		n=$((n + 1))
		[ "$n" -lt 60 ] || kill -KILL -- "-$pid"
		sleep 0.5
	done
	status=0
	wait "$pid" 2>/dev/null || status=$?
}

if $can_sample; then
	insist SIGTERM record -e cpu-clock:u -o x.data
	check "record: Ctrl-C twice ends a program that ignores it" "$(status_is 143)" "$(says 'ended by SIGTERM')" \
		"$(has x.data)"
	insist SIGTERM run -o x.lode --report /dev/null
	check "run: Ctrl-C twice ends a program that ignores it" "$(status_is 143)" "$(says 'ended by SIGTERM')" \
		"$(left_nothing)"
	insist SIGTERM memory record -o y.lode
	check "memory record: Ctrl-C twice ends a program that ignores it" "$(status_is 143)" \
		"$(says 'ended by SIGTERM')" "$(left_nothing)"
	deaf='trap "" INT TERM; echo ready; while :; do :; done'
	insist SIGKILL record -e cpu-clock:u -o x.data
	check "record: a third time, whatever it ignores" "$(status_is 137)" "$(says 'ended by SIGKILL')" "$(has x.data)"
	rm -f x.* y.*

	# --- crashes ---

	# shellcheck disable=SC2016
	status=0
	"$lode" run -F 1000 -o x.lode --report /dev/null -- sh -c 'kill -SEGV $$' >out 2>err || status=$?
	check "run: a program that crashes early" "$(status_is 139)" \
		"$(! grep -q 'too short' err || echo "says that it ran too short")" \
		"$([ -s x.lode ] || says 'signal 11 .* before anything was recorded')" "$(left_nothing)"

	status=0
	# shellcheck disable=SC2016
	"$lode" run -F 10000 -o x.lode --report /dev/null -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; kill -BUS $$' \
		>out 2>err || status=$?
	check "run: a program that crashes later" "$(status_is 135)" "$(has x.lode)" \
		"$(says 'ended by signal 7 .*; mining what it did until then')" "$(left_nothing)"

	# Each signal stops a program that has asked to be traced, until its parent lets it go on.
	status=0
	# shellcheck disable=SC2016
	"$lode" run -F 10000 -o x.lode --report /dev/null -- \
		perl -e '$SIG{USR1} = sub { $n++ }; $sum += $_ for 1 .. 1000000; syscall(101, 0, 0, 0, 0); kill USR1 => $$ for 1 .. 3; exit 3 + $n' >out 2>err || status=$?
	check "run: a program that asks to be traced" "$(status_is 6)" "$(left_nothing)"

	cp "$(command -v sh)" with_rights
	chown 65534 with_rights 2>/dev/null && chmod 4755 with_rights
	if [ "$(id -u)" = 0 ] && [ "$(./with_rights -p -c 'id -u')" = 65534 ]; then
		faults=()
		# shellcheck disable=SC2016
		for script in 'exec ./with_rights -c "exit 7"' './with_rights -c "exit 7"; exit $?'; do
			status=0
			"$lode" run -F 1 -o x.lode --report /dev/null -- sh -c "$script" >out 2>err || status=$?
			faults+=("$(status_is 7)" "$(says 'not sampled: .with_rights.; .* more rights than its caller')" \
				"$(! grep -q 'too short' err || echo 'says that it ran too short')" "$(left_nothing)")
		done
		check "run: a set-user-ID program is not sampled, but its status is passed on" "${faults[@]}"
	else
		skip "run: a set-user-ID program is not sampled, but its status is passed on" "this is not root"
	fi
else
	for verb in record run "memory record"; do
		skip "$verb: Ctrl-C twice ends a program that ignores it" "sampling is not allowed here"
	done
	skip "record: a third time, whatever it ignores" "sampling is not allowed here"
	skip "run: a program that crashes early" "sampling is not allowed here"
	skip "run: a program that crashes later" "sampling is not allowed here"
fi

# --- what killed processes left ---

sh -c 'echo $$' >gone
gone=$(cat gone)
mkdir "tmp/lode-run-$gone-abcdef" "tmp/lode-run-$$-abcdef" tmp/lode-run-mine aside
mkdir "tmp/lode-read-$gone-abcdef" "tmp/lode-read-$$-abcdef"
: >"tmp/lode-read-$gone-abcdef/copy.lode"
: >"tmp/lode-run-$gone-abcdef/perf.data"
: >aside/kept
ln -s ../aside "tmp/lode-run-$gone-linked"
mkdir "tmp/lode-run-$gone-locked"
# In a shell that becomes the sleeper, so that nothing is left that holds the output open.
(exec 9<"tmp/lode-run-$gone-locked" && flock 9 && exec sleep 60) >/dev/null 2>&1 &
holder=$!
sleep 0.3
status=0
"$lode" run --exact --fast -o x.lode --report /dev/null -- true >out 2>err || status=$?
check "run: directories of killed processes go, others stay" "$(status_is 0)" \
	"$([ ! -e "tmp/lode-run-$gone-abcdef" ] || echo "left that of a process that is gone")" \
	"$([ -e "tmp/lode-run-$$-abcdef" ] || echo "removed that of a process that runs")" \
	"$([ ! -e "tmp/lode-read-$gone-abcdef" ] || echo "left a reader's copy")" \
	"$([ -e "tmp/lode-read-$$-abcdef" ] || echo "removed the copy of a process that runs")" \
	"$([ -e tmp/lode-run-mine ] || echo "removed one that is not a run's")" \
	"$([ -e "tmp/lode-run-$gone-locked" ] || echo "removed one that is locked")" \
	"$([ -e aside/kept ] || echo "followed a link")"
kill "$holder"

# started NAME: waits for a program that makes this file when it runs
started() {
	local i
	for ((i = 0; i < 6000; i++)); do
		[ ! -e "$1" ] || break
		sleep 0.01
	done
}
folders() { compgen -G '.*.allocations-*'; }

# The first trace goes on while the second is killed; the third tells them apart.
# shellcheck disable=SC2016
waiting='touch "$1"; until [ -e go ]; do sleep 0.05; done'
rm -f go
"$lode" trace record --allocations -o first.rps -- sh -c "$waiting" sh first >/dev/null 2>&1 &
first=$!
"$lode" trace record --allocations -o second.rps -- sh -c "$waiting" sh second >/dev/null 2>&1 &
second=$!
started first
started second
kill -9 "$second"
wait "$second" 2>/dev/null
left=$(folders | wc -l)
status=0
"$lode" trace record --allocations -o third.rps -- true >out 2>err || status=$?
check "trace record: the folder of a killed one goes, that of one that runs stays" "$(status_is 0)" \
	"$([ "$left" -eq 2 ] || echo "there were $left folders, not 2")" \
	"$([ "$(folders)" = "$(compgen -G '.first.rps.allocations-*')" ] || echo "there are $(folders)")"
touch go
status=0
wait "$first" || status=$?
check "and in the end there is none" "$(status_is 0)" "$(folders | sed 's/^/left /')" "$(has first.rps)"
rm -f ./*.rps ./*.log

# --- what is kept ---

others_may_read() { find "$1" -type f -perm /077 | sed 's/^/others may read or write /'; }
keep() {
	local what=$1
	shift
	rm -rf kept
	status=0
	"$lode" "$@" --keep-recording kept -o x.lode -- true >out 2>err || status=$?
	check "$what: what is kept is for its user alone" "$(status_is 0)" "$(others_may_read kept)" \
		"$([ -n "$(ls kept)" ] || echo "nothing is kept")"
}
keep "run --exact" run --exact --fast
keep "run --trace" run --trace --allocations
if $can_sample; then
	keep "memory record" memory record --allocations --page-nodes
else
	skip "memory record: what is kept is for its user alone" "sampling is not allowed here"
fi

echo "1..$number"
