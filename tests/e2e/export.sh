#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What other tools read of a program whose calls are known, in each format of `lode export`: with call
# stacks by frame pointers and by copies of the stack, and without any. Prints TAP; skips where the
# kernel lets nobody sample, or there is no compiler.
#
#   tests/e2e/export.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
export HOME=$work
needs gcc python3 sqlite3 callgrind_annotate
needs_sampling
cp "$here/known_calls.c" .
gcc -g -O2 -fno-omit-frame-pointer known_calls.c -o frames
gcc -g -O2 -fomit-frame-pointer known_calls.c -o plain

# export_as FORMAT: of x.lode into the file x.FORMAT.
export_as() {
	"$lode" export x.lode --format "$1" -o "x.$1" >>out 2>err
	status=$?
}

# The shares are 60, 30 and 10 % within what 400 samples and more leave to chance: five errors.
has_shares() {
	read -r often seldom inlined < <("$here/exported_shares.py" "$1" "x.$1" 2>>err)
	is_near "$often" 60 13 often
	is_near "$seldom" 30 12 seldom
	is_near "$inlined" 10 8 inlined
}
is_near() {
	[ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $3)) ] || echo "$4: $1 %, not $2"
}

# tells_ways HOW: a case for each format.
tells_ways() {
	local format
	for format in folded pprof firefox callgrind; do
		export_as $format
		check "$format, $1" "$(status_is 0)" "$(has_shares $format)"
	done
}

echo 1..17

"$lode" record -g -F 2000 -o x.data -- ./frames 40000 >out 2>err && "$lode" import x.data -o x.lode >out 2>err
tells_ways "by frame pointers"
"$lode" run --call-graph dwarf -F 2000 -o x.lode -- ./plain 40000 >out 2>err
tells_ways "by copies of the stack"

callgrind_annotate --auto=no x.callgrind >annotated 2>>err
check "callgrind_annotate finds where the time is" "$(awk '/PROGRAM TOTALS/ { total = $1 }
	/:work / { gsub(",", ""); if (total ~ /,/) gsub(",", "", total); if ($1 > total * 0.9) found = 1 }
	END { if (!found) print "not in work()" }' annotated)"
check "inlined functions are frames of their own" \
	"$(grep -q ';main;inlined;work ' x.folded || echo "no inlined frame")"

# What Go's reader makes of it, which says nanoseconds as a unit too.
check_pprof() {
	if ! HOME=$work go tool pprof -unit=ns -cum -nodecount=0 -top x.pprof >top 2>>err; then
		tail -3 err
		return
	fi
	awk 'FNR == NR { total += $NF; next } / of .* total/ { gsub("ns", ""); shown = $(NF - 1) }
		$NF == "work" || $(NF - 1) == "work" { work = $5 + 0 }
		END { if (shown != total) print "total: " shown ", not " total; if (work < 90) print "work(): " work " %" }' \
		x.folded top
}
if go tool pprof -help 2>&1 | grep -q -e -top; then
	check "go tool pprof reads the same total, and where the time is" "$(check_pprof)"
else
	check "go tool pprof reads the same total # SKIP go is not installed"
fi

perf record -q -g -e cpu-clock:u -F 2000 -o perf.data ./frames 40000 >out 2>err
"$lode" import perf.data -o x.lode >out 2>err
export_as folded
check "of what perf recorded" "$(status_is 0)" "$(has_shares folded)"

"$lode" run --exact -o x.lode -- ./plain 100 >out 2>err
export_as callgrind
"$lode" import x.callgrind -o again.lode >out 2>err
executions() { sqlite3 "$1" "SELECT sum(i.count) FROM instruction i JOIN function f ON f.id = i.function WHERE f.name = '$2'"; }
check "executions are the same when read again" "$(status_is 0)" \
	"$([ "$(executions x.lode work)" = "$(executions again.lode work)" ] || echo "work: $(executions x.lode work), $(executions again.lode work)")" \
	"$([ "$(executions x.lode main)" = "$(executions again.lode main)" ] || echo "main: $(executions x.lode main), $(executions again.lode main)")"
check "without call stacks, what a function costs goes to callers by their calls" \
	"$([ "$("$here/exported_shares.py" callgrind x.callgrind)" = "33 33 33" ] || "$here/exported_shares.py" callgrind x.callgrind)"
export_as folded
check "without call stacks, each function stands alone, and a note says so" "$(status_is 0)" \
	"$(grep -q 'no call stacks were recorded' err || cat err)" \
	"$(awk '$0 ~ /;work / { found = 1 } END { if (!found) print "no work()" }' x.folded)"
"$lode" export x.lode --format folded --weight nothing >out 2>err
status=$?
check "an event that is not there" "$(status_is 1)" "$(grep -q "no event 'nothing'" err || cat err)"
python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$lode" export x.lode --format pprof >out 2>err </dev/null
status=$?
check "pprof is not written to a terminal" "$(status_is 2)" \
	"$(grep -q 'pprof is not for a terminal: name a file by -o' out || head -c 300 out)"
