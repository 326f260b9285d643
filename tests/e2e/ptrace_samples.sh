#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs are sampled by ptrace where perf events are refused: they print and end as without lode,
# their shares are right, and what is refused, too, is said before the program runs. Prints TAP;
# skips where neither can be had.
#
#   tests/e2e/ptrace_samples.sh LODE REFUSE KINDS
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

refuse=$(realpath "$2")
kinds=$(realpath "$3")
begin "$1"
needs python3 cmp
"$refuse" perf EPERM true 2>err || skip "no system-call filter can be set: $(cat err)"
"$refuse" perf EPERM "$lode" record -o trial -- true >out 2>err
! grep -q 'ptrace is, too' err || skip "$(cat err)"

# Runs a kind without lode and traced: no difference. What is left of both: traced.err, same.data.
same() {
	local plain=0
	KINDS_MARK=$work/plain.mark "$kinds" "$@" >plain.out 2>plain.err || plain=$?
	KINDS_MARK=$work/traced.mark "$refuse" perf EPERM "$lode" record --user-regs -o same.data \
		-- "$kinds" "$@" >traced.out 2>err
	status=$?
	check "$* is as without" "$(status_is "$plain")" "$(diff plain.out traced.out | head -8)" \
		"$(holds grep -q 'sampled by ptrace' err)"
}

same shares 0.3
same threads 0.4
same many-threads 0.4
same short-threads
same children 0.4
same signals
same stops
same waits 1
same ignored
same vfork
same pipe 0.5
same thread-executes
same exit 7
for signal in 6 9 11 15; do same killed "$signal" 2>/dev/null; done
same abort 2>/dev/null
same blocked-trap 0.3
same traces
same trap 0.5
check "a program that catches SIGTRAP is let go" "$(holds grep -q 'catches' err)"
same daemon
for ((i = 0; i < 200; i++)); do
	[ -e traced.mark ] && break
	sleep 0.1
done
check "a daemon lives on when lode has ended" "$(holds test -e traced.mark)"

# The difference that remains: who is traced cannot ask somebody else to trace it.
"$refuse" perf EPERM "$lode" record -o x.data -- "$kinds" traceme >out 2>err
status=$?
check "PTRACE_TRACEME is refused" "$(status_is 0)" "$(holds grep -qx 'traceme: refused' out)"

# share_is_right ERROR: heavy has 70 % by construction; with 100 samples the standard error is 5 %,
# and on a busy machine lode is late.
share_is_right() {
	python3 -c '
import json, sys
# a compiler may give what it makes for one argument a suffix
weights = {f["name"].split(".")[0]: f["weight"] for f in json.load(sys.stdin)["functions"]}
share = weights.get("heavy", 0) / (weights.get("heavy", 0) + weights.get("light", 0) or 1)
abs(share - 0.7) < float(sys.argv[1]) or print(f"heavy has {100 * share:.1f} %, not 70 %")' "$1" <functions.json
}

while read -r kind seconds code samples error; do
	"$refuse" perf "$code" "$lode" record -o x.data -- "$kinds" "$kind" "$seconds" >out 2>err
	status=$?
	"$lode" import x.data -o x.lode >out 2>>err &&
		"$lode" report --functions --format json x.lode >functions.json 2>>err
	# A thread that is asked before it starts another one stops for that.
	[ "$kind" = births ] || check "shares of $kind" "$(status_is 0)" "$(share_is_right "$error")"
	# Who is lost sight of has ten or twenty.
	n=$(sed -n 's/.*: \([0-9,]*\) samples of.*/\1/p' err | tr -d ,)
	check "samples of $kind" "$([ "${n:-0}" -ge "$samples" ] || echo "$n, not $samples and more")"
done <<'KINDS'
shares 2 EPERM 100 0.15
threads 2 EACCES 100 0.15
children 2 ENOSYS 100 0.15
calls 3 EPERM 30 0.25
births 2 EPERM 50
KINDS

"$refuse" perf EPERM "$lode" run -o x.lode -- "$kinds" shares 0.5 >out 2>err
status=$?
"$lode" report --format json x.lode >report.json
"$lode" info x.lode >info.txt
check "the report says how it was sampled" "$(status_is 0)" \
	"$(holds grep -q '^perf events are refused here' err)" \
	"$(holds grep -q '"sampling":"perf events are refused here' report.json)" \
	"$(holds grep -q 'sampling .*sampled by ptrace' info.txt)"

# A process that is attached to is looked at, and nothing else.
sh -c 'while :; do sleep 0.02; done' &
target=$!
"$refuse" perf EPERM "$lode" run -o attached.lode --duration 2 -p "$target" >out 2>err
status=$?
kill -KILL "$target"
wait "$target" 2>/dev/null
"$lode" report --waits --format json attached.lode >waits.json 2>>err
check "a process that is attached to" "$(status_is 0)" \
	"$(holds grep -q '^perf events are refused here' err)" \
	"$(holds python3 -c 'import json
waits = json.load(open("waits.json"))
asleep = sum(one["seconds"] for one in waits["waits"] if one["reason"] in ("child", "sleep"))
assert 1 < waits["clock_seconds"] < 60 and asleep > 0.5, waits
assert all(one["count"] == 0 for one in waits["waits"]), waits' 2>&1)"

# What is refused all the same: in one sentence, and the program does not run.
while read -r calls words options; do
	rm -f ran
	# shellcheck disable=SC2086
	"$refuse" "$calls" EPERM "$lode" $options -o no -- touch ran >out 2>err
	status=$?
	check "$options with $calls refused" "$(status_is 1)" "$(holds grep -q "$words" err)" \
		"$(holds test ! -e ran)"
done <<'CASES'
perf,ptrace ptrace.is,.too run
perf perf_event_open record -e page-faults
perf perf_event run --kernel
perf perf_event_open memory record
CASES

# A set-user-ID program would lose its rights: it keeps them, and has no profile.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	install -d -o nobody nobody
	cp "$(command -v id)" other && chown daemon other && chmod 4755 other
	as_nobody() { "$refuse" perf,privileged EPERM setpriv --reuid nobody --clear-groups "$@"; }
	if [ "$(as_nobody ./other -un 2>err)" = daemon ]; then
		as_nobody "$lode" run -o nobody/x.lode -- ./other -un >out 2>err
		status=$?
		check "a set-user-ID program keeps its rights" "$(status_is 0)" \
			"$(holds grep -qx daemon out)" "$(holds grep -q 'set-user-ID' err)"
	fi
	as_nobody "$lode" record -o nobody/x.data -- "$kinds" exit 5 >out 2>err
	status=$?
	check "an ordinary user samples, too" "$(status_is 5)" "$(holds grep -q 'by ptrace' err)"
fi

echo "1..$number"
