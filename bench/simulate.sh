#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces programs and replays the traces: through cachegrind's caches beside cachegrind on the same
# program; then from memory, millions of references per second through one hierarchy, through 64 in
# one pass, and for the curve of all sizes, with one thread and with two.
#   bench/simulate.sh [REFERENCES]     of each trace that is replayed from memory; default: 10000000
set -euo pipefail
cd "$(dirname "$0")/.."
references=${1:-10000000}
root=$PWD
[ -d build-bench ] || meson setup build-bench --buildtype=release -Db_ndebug=true >/dev/null
ninja -C build-bench src/cli/lode tools/qemu_plugin/liblode-trace.so bench/cache_simulation \
	bench/stack_distances >/dev/null
lode=$root/build-bench/src/cli/lode
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C.UTF-8 HOME=$scratch PYTHONHASHSEED=0

head -c 1000000 "$lode" >input
seq 1 30000 | shuf --random-source=input >numbers
echo 'print(sum(len(str(i * 7919 % 10007)) for i in range(60000)))' >program.py
cat >program.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive r(i) as (select 1 union all select i + 1 from r where i < 20000)
insert into t select i, 'row' || (i * 7919 % 10007), i * 0.5 from r;
create index tb on t(b);
select count(*), sum(c) from t where b like 'row1%';
select b, count(*) from t group by b order by 2 desc limit 3;
END

# best FORMAT COMMAND…: the least of three runs, in seconds; FORMAT is %U, of the processor in the
# program's own mode, or %R, of the clock.
best() {
	local TIMEFORMAT=$1 least='' now
	shift
	for _ in 1 2 3; do
		now=$({ time "$@" >/dev/null 2>log; } 2>&1) || { tail -n 3 log >&2; return 1; }
		least=$(printf '%s\n%s' "$least" "$now" | grep . | sort -n | head -n 1)
	done
	echo "$least"
}

# beside_cachegrind PROGRAM…: of x.rps, its trace
beside_cachegrind() {
	local all peer replay clock
	all=$("$lode" trace info x.rps --format csv | awk -F, '$1 FS $2 == "reference,all" { print $3 }')
	peer=$(best %U valgrind --tool=cachegrind --cache-sim=yes \
		--cachegrind-out-file=/dev/null "$@")
	replay=$(best %U "$lode" trace simulate x.rps --cache cachegrind)
	clock=$(best %R "$lode" trace simulate x.rps --cache cachegrind)
	awk -v n="$all" -v p="$peer" -v r="$replay" -v c="$clock" 'BEGIN {
		printf "%.0f million references: cachegrind (peer) %.2f s, replay %.2f s " \
			"of one processor: %.2f times as fast, %.0f Mref/s; %.2f s by the clock\n",
			n / 1e6, p, r, p / r, n / 1e6 / r, c }'
}

replayed() {
	local name=$1
	shift
	echo
	echo "$name"
	"$lode" trace record -o x.rps --level fast -- "$@" >/dev/null 2>log || { cat log; return 1; }
	beside_cachegrind "$@"
	"$root/build-bench/bench/cache_simulation" x.rps "$references"
	"$lode" trace unpack x.rps --count "$references" |
		"$lode" trace pack - --level fast -o y.rps 2>/dev/null
	"$root/build-bench/bench/stack_distances" y.rps
}

replayed gzip gzip -c input
replayed sort sort --parallel=1 numbers
replayed python3 /usr/bin/python3 -S program.py
replayed sqlite3 sqlite3 :memory: ".read program.sql"
