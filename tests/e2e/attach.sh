#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Processes that run already, recorded by `lode run` and `lode record`: for how long, what is said
# of them, and with which status lode ends. Prints TAP; skips where the kernel lets nobody sample.
#
#   tests/e2e/attach.sh LODE ATTACHED       ATTACHED: attached_program.c
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

lode=$(realpath "$1")
attached=$(realpath "$2")
work=$(mktemp -d)
target=
trap '[ -z "$target" ] || kill -KILL "$target"; rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp LC_ALL=C.UTF-8

if ! refusal=$("$lode" record -o trial -e cpu-clock:u -- true 2>&1); then
	echo "1..0 # SKIP $refusal"
	exit 0
fi

attach_to() {
	"$attached" "$@" &
	target=$!
	# Until then the process is this script's shell.
	for ((i = 0; i < 200; i++)); do
		[ "$(readlink "/proc/$target/exe")" != "$attached" ] || break
		sleep 0.1
	done
}

end_target() {
	kill -KILL "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	target=
}

run() {
	"$lode" "$@" >out 2>err
	status=$?
}

left_nothing() { [ -z "$(ls -A tmp)" ] || echo "left $(ls -A tmp)"; }
is_alive() { kill -0 "$target" 2>/dev/null || echo "the process has ended"; }
says() { grep -qE "$1" err || echo "does not say '$1'"; }

# fact FILE KEY: a number of the profile.
fact() { "$lode" info "$1" --format json | grep -oE "\"$2\":[0-9.e+]+" | head -n 1 | cut -d: -f2; }
is_between() {
	awk -v value="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(value >= least && value <= most) }' ||
		echo "$4: $1, not from $2 to $3"
}
has_program() {
	[ "$("$lode" info "$1" | awk '$1 == "program" { sub(/^ *program */, ""); print }')" = "$2" ] ||
		echo "the program of $1 is not '$2'"
}

# Ticks of user and kernel time.
ticks() { cut -d ' ' -f 14,15 "/proc/$target/stat"; }

attach_to kernel 'an argument'
before=$(ticks)
run run -p "$target" -- sleep 1
after=$(ticks)
truth=$(echo "$before $after" | awk '{ print ($4 - $2) / ($3 - $1 + $4 - $2) }')
share=$(awk -v user="$(fact attached_program.lode user_seconds)" \
	-v kernel="$(fact attached_program.lode system_seconds)" 'BEGIN { print kernel / (user + kernel) }')
check "a process is recorded for as long as a command runs" "$(status_is 0)" "$(is_alive)" \
	"$(has_program attached_program.lode "$attached kernel 'an argument'")" "$(left_nothing)"
check "the report says what share was in the kernel" \
	"$(says '% (of [0-9.]+ s of processor time were )?in the kernel(, not sampled|; --kernel samples it)')" \
	"$(is_between "$share" 0.3 1 'share of the kernel')" \
	"$(is_between "$share" "$(awk "BEGIN { print $truth - 0.25 }")" "$(awk "BEGIN { print $truth + 0.25 }")" \
		'share of the kernel')"

run run -p "$target" -o x.lode -- sh -c 'sleep 0.5; exit 7'
check "the status is that of the command" "$(status_is 7)" "$(is_alive)" "$([ -s x.lode ] || echo 'no profile')"

run record -p "$target" -o x.data -- sleep 0.5
"$lode" import x.data -o x.lode >/dev/null 2>>err
check "record: likewise, and what was recorded is named" "$(status_is 0)" "$(is_alive)" \
	"$(has_program x.lode "$attached kernel 'an argument'")" \
	"$(is_between "$(fact x.lode system_seconds)" 0.01 10 'seconds in the kernel')"

run run -p "$target" --duration 0.5 -o y.lode
check "a duration" "$(status_is 0)" "$(is_alive)" "$([ -s y.lode ] || echo 'no profile')"

run run -p "$target" -o z.lode -- ./no-such-program
check "a command that is not there" "$(status_is 1)" "$(says 'cannot find program')" "$(left_nothing)"

printf '\177ELF rubbish' >no-format
chmod +x no-format
run record -p "$target" -o no.data -- ./no-format
check "a command that cannot be executed leaves no file" "$(status_is 1)" "$(says 'cannot start .*: it is neither a program')" \
	"$(is_alive)" "$([ ! -e no.data ] || echo 'there is one')"

set -m
"$lode" run -F 10000 -p "$target" -o z.lode -- sleep 60 >out 2>err &
pid=$!
set +m
# Not before it records: then there is nothing to be mined.
for ((i = 0; i < 200; i++)); do
	! pgrep -P "$pid" -x sleep >/dev/null || break
	sleep 0.1
done
sleep 1
kill -INT -- "-$pid"
wait "$pid"
status=$?
check "Ctrl-C ends the recording, and it is mined" "$(status_is 0)" "$(is_alive)" \
	"$([ -s z.lode ] || echo 'no profile')" "$(left_nothing)"

"$lode" run -F 10000 -p "$target" -o w.lode -- sleep 60 >out 2>err &
pid=$!
sleep 1
end_target
wait "$pid"
status=$?
check "so does the end of the process, and the command is ended" "$(status_is 0)" \
	"$([ -s w.lode ] || echo 'no profile')" "$(left_nothing)"

run run -p 2147483647
check "no such process" "$(status_is 1)" "$(says 'process 2147483647 does not exist')" "$(left_nothing)"

sleep 60 &
waiting=$!
sleep 1
run run -p "$waiting" --duration 0.5 -o none.lode
kill "$waiting"
check "what a process did that only waits is said once" "$(status_is 1)" "$(says 'no sample was taken')" \
	"$(! grep -q 'too short' err || echo 'says that it ran too short')" "$(left_nothing)"

attach_to kernel
run run --kernel -p "$target" -o k.lode -- sleep 1
if [ "$status" -eq 0 ]; then
	sampled=$("$lode" info k.lode --format csv | awk -F, '$2 == "[kernel]" { print $4 }')
	check "the kernel's code is sampled where that is allowed" "$(says 'in the kernel, sampled too')" \
		"$(is_between "$sampled" 0.2 1 "share of image '[kernel]'")" \
		"$([ "$("$lode" info k.lode --format json | grep -c '"is_kernel_sampled":false')" -eq 0 ] ||
			echo 'it says that it was not')"
else
	check "or it is said what allows it" "$(status_is 1)" "$(says 'perf_event_paranoid')"
fi
end_target

attach_to threads
run record -e cpu-clock:u -F 1000 -p "$target" -o t.data -- sleep 1
end_target
"$lode" import t.data -o t.lode >/dev/null 2>>err
sampled=$(fact t.lode weight | awk '{ print $1 / 1e9 }')
ran=$(fact t.lode user_seconds)
# Time that a hypervisor takes from the machine counts as the threads', but cannot be sampled.
check "threads that begin all the time are sampled, and once" "$(status_is 0)" \
	"$(is_between "$sampled" "$(awk "BEGIN { print 0.1 * $ran - 0.03 }")" \
		"$(awk "BEGIN { print 1.3 * $ran + 0.03 }")" "seconds sampled of $ran")"

attach_to memory
run memory record -p "$target" -F 2000 -o m.lode -- sleep 1
"$lode" memory m.lode --by thread --format csv >out 2>>err
"$lode" memory m.lode --by object --format csv >objects 2>>err
for thread in 0 1; do
	awk -F, -v thread=$thread '$3 == thread { print $8 }' out
done >shares
check "the data of a running process, in its threads" "$(status_is 0)" "$(is_alive)" \
	"$(has_program m.lode "$attached memory")" "$(left_nothing)" \
	"$(is_between "$(sed -n 1p shares)" 0.2 0.8 'share of thread 0')" \
	"$(is_between "$(sed -n 2p shares)" 0.2 0.8 'share of thread 1')" \
	"$(for table in first_table second_table; do grep -q $table objects || echo "no $table"; done)"
run memory record -p "$target" -F 2000 -o n.lode --duration 0.5
check "likewise for a duration" "$(status_is 0)" "$(is_alive)" "$([ -s n.lode ] || echo 'no profile')"
# One node here: what was recorded, and the same as if all pages had been on node 1.
run memory record -p "$target" -F 2000 -o o.lode --duration 1 --page-nodes --keep-recording kept
"$lode" memory o.lode --by page_node --format csv >nodes 2>>err
"$lode" memory o.lode --by page_size --format csv >sizes 2>>err
sed -E 's/^([0-9a-f]+ [0-9a-f]+ [0-9]+) [0-9]+$/\1 1/' kept/pages.txt >pages.txt
"$lode" import kept/perf.data pages.txt -o moved.lode >/dev/null 2>>err
"$lode" memory moved.lode --by page_node --format csv >moved 2>>err
share_of() { awk -F, -v key="$2" '$3 == key { print $8 }' "$1"; }
nodes=$(share_of nodes 0)
check "the nodes and sizes of pages" "$(status_is 0)" \
	"$(is_between "${nodes:-0}" 0.05 1 'share of node 0')" \
	"$([ "$(share_of moved 1)" = "$nodes" ] || { echo "not $nodes of node 1:" && cat moved; })" \
	"$([ "$(share_of sizes 4096)" = "$nodes" ] || { echo "not $nodes of 4096:" && cat sizes; })"
echo '1 2 3' >>pages.txt
"$lode" import kept/perf.data pages.txt -o moved.lode >/dev/null 2>err
status=$?
check "a damaged file of pages" "$(status_is 1)" "$(says 'pages.txt: line [0-9]+: neither')"
"$lode" import pages.txt -o moved.lode >/dev/null 2>err
status=$?
check "pages alone" "$(status_is 2)" "$(says 'only imported with the perf.data')"
run memory record -p "$target" --allocations
check "allocations need a program that is started" "$(status_is 2)" "$(says 'cannot be used with --pid')"
end_target

run run --duration 0.5 -o d.lode -- "$attached" kernel
check "a program is ended when its time is up" "$(status_is 0)" "$([ -s d.lode ] || echo 'no profile')" \
	"$(is_between "$(fact d.lode system_seconds)" 0.01 10 'seconds in the kernel')" "$(left_nothing)"

# shellcheck disable=SC2016
run record --duration 0.5 -o d.data -- sh -c 'trap "exit 7" TERM; while :; do :; done'
check "and may do so in its own way" "$(status_is 7)"

run import x.data d.data -o both.lode
check "a profile of several recordings names all programs" "$(status_is 0)" \
	"$(has_program both.lode "$attached kernel 'an argument', sh -c 'trap \"exit 7\" TERM; while :; do :; done'")"

# Workers that ran before: what they do is not the parent's own.
cat >workers.c <<'END'
#include <unistd.h>
int main(void)
{
	volatile double sum = 0;
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			for (;;)
				sum += 1.0;
	for (;;)
		pause();
}
END
cc -O1 -o workers workers.c
./workers &
target=$!
children() { cat "/proc/$target/task/$target/children"; }
for ((i = 0; i < 200 && $(children | wc -w) < 2; i++)); do sleep 0.1; done
read -ra workers <<<"$(children)"
run run -p "$target" -o parent.lode --duration 1
check "what a process has started is sampled with it" "$(status_is 0)" \
	"$(says "samples process $target .workers. and 2 more processes for 1 s")" \
	"$(is_between "$(fact parent.lode user_seconds)" 0.1 10 'seconds of the workers')"
run run -p "${workers[0]}" -o one.lode --duration 0.3
check "and nothing else" "$(status_is 0)" "$(says "samples process ${workers[0]} .workers. for 0.3 s")"
run record -p "${workers[0]}" --siblings -o siblings.data --duration 1
check "its siblings are where they are asked for" "$(status_is 0)" \
	"$(says "samples process ${workers[0]} .workers. and 2 more processes for 1 s")" \
	"$(perf script -i siblings.data -F pid 2>/dev/null | sort -u | wc -l | grep -qx '[23]' || echo 'not both workers')"
run run --siblings -- true
check "siblings of a process" "$(status_is 2)" "$(says 'siblings can only be given with --pid|siblings needs --pid|with --pid')"
kill -KILL "${workers[@]}"
end_target

echo "1..$number"
