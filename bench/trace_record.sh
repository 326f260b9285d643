#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What it costs to trace a program, beside QEMU with the plugin, and to simulate its caches while it
# runs, beside cachegrind: user and system seconds of all processes and threads, all by turns, the
# least of some rounds. One table, one run.
#
#   bench/trace_record.sh [LODE [ROUNDS]]     LODE is build/src/cli/lode unless given, ROUNDS 3
# ONLY='gzip cc1' takes some programs.
#
# skipped: `lode trace record --skip` of more instructions than there are, which takes them from the
# plugin and counts them, and writes nothing.
set -euo pipefail
rounds=${2:-3}
# shellcheck source=bench/scratch.sh
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh" "${1:-}"

head -c 60000 "$cc1" >input
seq 20000 | shuf --random-source=input >numbers
for i in $(seq 5); do
	echo "int f$i(const int *v, int n) { int s = $i; for (int i = 0; i < n; i++) s += v[i] * (s ^ i); return s; }"
done >input.c
cat >program.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive r(i) as (select 1 union all select i + 1 from r where i < 20000)
insert into t select i, 'row' || (i * 7919 % 10007), i * 0.5 from r;
select count(*), sum(c) from t where b like 'row1%';
END

# seconds COLUMN COMMAND…: appends "COLUMN SECONDS"
seconds() {
	local TIMEFORMAT='%U %S' column=$1
	shift
	{ time "$@" >/dev/null 2>stderr </dev/null || true; } 2>&1 |
		awk -v c="$column" '{ print c, $1 + $2 }' >>seconds_of
}

# round COMMAND…
round() {
	seconds alone "$@"
	seconds qemu qemu-x86_64 -cpu max -0 "$1" "$(command -v "$1")" "${@:2}"
	seconds skipped "$lode" trace record --level fast --skip 999999999999 -o skipped.rps -- "$@"
	seconds record "$lode" trace record --level fast -o x.rps -- "$@"
	seconds simulate "$lode" trace simulate --cache i1=32K:8:64,d1=32K:8:64,l2=1M:16:64 -- "$@"
	seconds cachegrind valgrind --tool=cachegrind --cache-sim=yes \
		--cachegrind-out-file=/dev/null "$@"
}

# measure NAME COMMAND…
measure() {
	local name=$1 references
	shift
	[[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
	: >seconds_of
	for ((i = 0; i < rounds; i++)); do round "$@"; done
	# all of it is read: lode would die of a closed pipe
	references=$("$lode" trace info --quick --format json x.rps |
		grep -oP '"references": *\K[0-9]+' | sed -n 1p)
	awk -v name="$name" -v references="$references" -v bytes="$(stat -c %s x.rps)" '
		!($1 in best) || $2 < best[$1] { best[$1] = $2 }
		END { printf "%-8s %7.1f %7.2f %7.2f %8.2f %7.2f %6.2f %8.1f %8.3f %9.2f %10.2f %6.2f\n", name,
			references / 1e6, best["alone"], best["qemu"], best["skipped"], best["record"],
			best["record"] / best["skipped"], references / 1e6 / best["record"],
			8 * bytes / references, best["simulate"], best["cachegrind"],
			best["simulate"] / best["cachegrind"] }' seconds_of
}

printf '%-8s %7s %7s %7s %8s %7s %6s %8s %8s %9s %10s %6s\n' program Mrefs alone qemu skipped record \
	'×' 'M/CPU s' bits/ref simulate cachegrind '×'
measure gzip gzip -9 -c input
measure sort sort -n --parallel=1 numbers
measure cc1 "$cc1" -quiet -O2 input.c -o /dev/null
measure sqlite3 sqlite3 :memory: ".read program.sql"
