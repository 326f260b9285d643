#!/bin/bash
# SPDX-License-Identifier: MIT
# Records traces of eight real programs and packs each with lode's levels, and as raw words of eight
# bytes a reference with general compressors: bits per reference, and millions of references per second.
#   bench/traces.sh [REFERENCES [BUILD]]   of each program; default: 25000000. BUILD is a directory
#                                          built with -Dbenchmarks=true; build-bench unless given
# Takes half an hour at the default, most of it for xz and zstd -19 on the raw words.
# ONLY='gzip cc1' takes some programs.
set -euo pipefail
cd "$(dirname "$0")/.."
references=${1:-25000000}
build=${2:-build-bench}
root=$PWD
[ -d "$build" ] || meson setup "$build" --buildtype=release -Db_ndebug=true >/dev/null
ninja -C "$build" src/cli/lode tools/qemu_plugin/liblode-trace.so bench/trace_store >/dev/null
lode=$root/$build/src/cli/lode
store=$root/$build/bench/trace_store
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C.UTF-8 HOME=$scratch PYTHONHASHSEED=0

gcc -O2 -o linked_list "$root/bench/trace_programs/linked_list.c"
gcc -O2 -o matrix_multiply "$root/bench/trace_programs/matrix_multiply.c"
head -c 2000000 "$lode" >input
cp "$root/bench/trace_store.c" unit.c
read -ra flags <<<"$(pkg-config --cflags glib-2.0)"
seq 1 60000 | shuf --random-source=input >numbers
cat >program.py <<'END'
import json
def f(n):
    return n if n < 2 else f(n - 1) + f(n - 2)
d = {}
for i in range(40000):
    d[str(i * 7919 % 10007)] = [i, {"a": i}]
print(f(20), len(json.dumps(d)))
END
cat >program.pl <<'END'
my %h;
for my $i (0 .. 400000) {
	my $k = ($i * 7919) % 10007;
	$h{"k$k"} .= "x" if $i % 3;
	$n++ if "abc$k" =~ /c(\d+)7/;
}
print scalar(keys %h), "\n";
END
cat >program.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive r(i) as (select 1 union all select i + 1 from r where i < 40000)
insert into t select i, 'row' || (i * 7919 % 10007), i * 0.5 from r;
create index tb on t(b);
select count(*), sum(c) from t where b like 'row1%';
select b, count(*) from t group by b order by 2 desc limit 3;
END

# peer NAME COMMAND…: compresses raw.
peer() {
	local name=$1 begin end
	shift
	begin=$(date +%s.%N)
	"$@" <raw >packed
	end=$(date +%s.%N)
	awk -v name="$name" -v bytes="$(stat -c %s packed)" -v n="$n" -v s="$(echo "$end $begin" |
		awk '{ print $1 - $2 }')" \
		'BEGIN { printf "%-10s 1  %8.3f  %8.1f\n", name, bytes * 8 / n, n / 1e6 / s }'
}

# trace NAME SKIPPED COMMAND…: instructions are skipped until the program is at its work.
trace() {
	local name=$1 skipped=$2
	shift 2
	[[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
	"$lode" trace record -o x.rps --level fast --skip "$skipped" --instructions "$references" \
		-- "$@" >/dev/null 2>log || { tail -n 3 log >&2; return 1; }
	"$store" x.rps --references "$references" --raw raw
	n=$(($(stat -c %s raw) / 8))
	echo
	echo "$name: $n references"
	echo "           threads  bits/ref  Mref/s in  of cpu  frames   of cpu   Mref/s out of cpu"
	"$store" x.rps --references "$references"
	peer "gzip -6" gzip -6 -c
	peer "zstd -3" zstd -q -3 -c
	peer "zstd -19" zstd -q -19 -c
	peer "xz -6" xz -6 -T1 -c
}

trace gzip 2000000 gzip -c input
trace cc1 5000000 "$(gcc -print-prog-name=cc1)" -quiet -O2 -imultiarch "$(gcc -print-multiarch)" "-I$root/src" "${flags[@]}" unit.c -o unit.s
trace python3 10000000 /usr/bin/python3 program.py
trace perl 10000000 perl program.pl
trace sqlite3 10000000 sqlite3 :memory: ".read program.sql"
trace sort 1000000 sort --parallel=1 numbers
trace linked_list 5000000 ./linked_list
trace matrix_multiply 1000000 ./matrix_multiply
