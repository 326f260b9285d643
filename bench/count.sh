#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What it costs to count a program's executions in qemu, beside callgrind that counts the same, and
# how far both agree instruction by instruction. One table, one run. Seconds are user time.
#
#   bench/count.sh [LODE [SIZE]]      LODE is build/src/cli/lode unless given; SIZE 1 takes callgrind
#                                     some minutes, and is the unit of the programs' work
# ONLY='gzip cc1' takes some programs.
#
# qemu: without the plugin. simple: with a plugin that adds up the instructions of each block, inline,
# and no more; fast: `lode run --exact --fast`, all processes, user and system time. agree: the share of callgrind's executions that are counted alike, of all
# instructions that it names by file. joined: of the sampled time of `lode run --count --fast`, what is
# at instructions that the second run counted.
set -euo pipefail
lode=$(realpath "${1:-build/src/cli/lode}")
size=${2:-1}
plugin=$(dirname "$lode")/../../tools/qemu_plugin/liblode-trace.so
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_PRELOAD DEBUGINFOD_URLS
cc1=$(gcc -print-prog-name=cc1)
caches=caches=64:8:64+64:8:64+8192:16:64
shapes=("--I1=32768,8,64" "--D1=32768,8,64" "--LL=8388608,16,64")

head -c $((size * 400000)) "$cc1" >input
seq $((size * 10000)) | awk '{ print "INSERT INTO t VALUES(" $1 "," $1 * 7919 % 10007 ");" }' >rows
{
	echo 'CREATE TABLE t(a,b);BEGIN;'
	cat rows
	echo 'COMMIT;SELECT sum(x.a) FROM t x JOIN t y ON x.b=y.a GROUP BY x.b ORDER BY 1 LIMIT 3;'
} >script.sql
for i in $(seq $((size * 30))); do
	echo "int f$i(const int *v, int n) { int s = $i; for (int i = 0; i < n; i++) s += v[i] * (s ^ i); return s; }"
done >input.c
echo "my %h; for my \$i (1..$((size * 60000))) { \$h{\$i % 997} .= chr(65 + \$i % 26); } print length(join '', values %h);" >script.pl
echo "print(sum(len(str(i * i)) for i in range($((size * 60000)))))" >script.py
echo "local t = {} for i = 1, $((size * 300000)) do t[i % 1000 + 1] = (t[i % 1000 + 1] or 0) + i end print(t[7])" >script.lua
# Sums of whole numbers are exact, which is what QEMU computes slowest: it asks the processor only when
# a result was rounded before.
gcc -O2 -o exact "$here/trace_programs/matrix_multiply.c"
sed 's/= i + j;/= (i + j) * 0.1;/; s/= i - j;/= (i - j) * 0.1;/' \
	"$here/trace_programs/matrix_multiply.c" >rounded.c
gcc -O2 -o rounded rounded.c
cat >avx2.c <<'END'
enum { N = 256 };
static double a[N][N], b[N][N], c[N][N];
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (i + j) * 0.1;
			b[i][j] = (i - j) * 0.1;
		}
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
	return c[3][5] == 0;
}
END
gcc -O3 -march=x86-64-v3 -o avx2 avx2.c
cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static long n;
static void *run(void *data)
{
	unsigned long x = (unsigned long)data, sum = 0;
	for (long i = 0; i < n; i++)
		sum += (x = x * 6364136223846793005 + 1) >> 33 & 7 ? i : x;
	return (void *)sum;
}
int main(int argc, char **argv)
{
	pthread_t other;
	n = argc > 1 ? atol(argv[1]) : 1;
	pthread_create(&other, NULL, run, (void *)1);
	run((void *)2);
	return pthread_join(other, NULL);
}
END
gcc -O1 -o threads threads.c -pthread

# A plugin that adds the number of a block's instructions to one sum, without a call.
cat >simple.c <<'END'
#include "qemu_plugin_interface.h"
int qemu_plugin_version = QEMU_PLUGIN_VERSION;
enum { ADD_U64 };
void qemu_plugin_register_vcpu_tb_exec_inline(
	struct qemu_plugin_tb *tb, int operation, void *sum, uint64_t number);
static uint64_t sum;
static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &sum, qemu_plugin_tb_n_insns(tb));
}
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int n, char **arguments)
{
	(void)info, (void)n, (void)arguments;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
END
gcc -O2 -shared -fPIC "-I$here/../tools/qemu_plugin" -o simple.so simple.c

# seconds COMMAND…: of user time
seconds() {
	local TIMEFORMAT=%U
	{ time "$@" >/dev/null 2>stderr <"${input:-/dev/null}" || true; } 2>&1
}
in_qemu() { seconds qemu-x86_64 -cpu max -plugin "$plugin,counts=$work/$1" -0 "$2" "$(command -v "$2")" "${@:3}"; }
alone_in_qemu() { seconds qemu-x86_64 -cpu max -0 "$1" "$(command -v "$1")" "${@:2}"; }
simply_in_qemu() { seconds qemu-x86_64 -cpu max -plugin "$work/simple.so" -0 "$1" "$(command -v "$1")" "${@:2}"; }
# exactly COMMAND…: seconds of user and system time
exactly() {
	local TIMEFORMAT='%U %S'
	{ time "$lode" run --exact --fast -o exact.lode -- "$@" >/dev/null 2>stderr <"${input:-/dev/null}" || true; } 2>&1 |
		awk '{ print $1 + $2 }'
}
in_callgrind() {
	seconds valgrind -v -v -v --log-file=map.log --tool=callgrind --callgrind-out-file=cg.out \
		--dump-instr=yes --collect-jumps=yes --skip-plt=no "$@"
}

# counts SCHEMA: of each instruction, as a query.
counts() {
	echo "SELECT m.path, i.address, i.count FROM $1.instruction i
		JOIN $1.function f ON f.id = i.function JOIN $1.image m ON m.id = f.image"
}
agreement() {
	"$lode" import counts/counts.* -o ours.lode >stderr 2>&1
	"$lode" import cg.out --map map.log -o theirs.lode >stderr 2>&1
	sqlite3 ours.lode "ATTACH 'theirs.lode' AS other" "
		WITH a AS ($(counts main)), b AS ($(counts other))
		SELECT printf('%.4f', 100.0 * sum(min(a.count, b.count)) / (SELECT sum(count) FROM b))
		FROM a JOIN b USING (path, address)" |
		tail -n 1
}

joined() {
	"$lode" run --count --fast -o joined.lode -- "$@" >/dev/null 2>stderr <"${input:-/dev/null}" || true
	"$lode" info joined.lode --format csv |
		awk -F, '$2 == "resolved" { printf "%.2f", 100 * $4 }'
	rm -f joined.lode
}

# measure NAME COMMAND…
measure() {
	local name=$1 alone emulated simple ours ours_caches theirs theirs_caches
	shift
	[[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
	command -v "$1" >/dev/null || return 0
	mkdir -p counts with_caches
	rm -f counts/* with_caches/*
	alone=$(seconds "$@")
	emulated=$(alone_in_qemu "$@")
	simple=$(simply_in_qemu "$@")
	ours=$(in_qemu counts "$@")
	ours_caches=$(in_qemu "with_caches,$caches" "$@")
	theirs_caches=$(in_callgrind --cache-sim=yes --branch-sim=yes "${shapes[@]}" "$@")
	theirs=$(in_callgrind "$@")
	awk -v n="$name" -v a="$alone" -v o="$ours" -v oc="$ours_caches" -v t="$theirs" \
		-v tc="$theirs_caches" -v agree="$(agreement)" -v e="$emulated" -v j="$(joined "$@")" -v s="$simple" -v f="$(exactly "$@")" 'BEGIN {
		printf "%-8s %7.2f %7.2f %7.2f %7.2f %6.2f %7.2f %6.2f %7.2f %6.2f %8.2f %8.2f %6.2f %9s %8s\n",
			n, a, e, s, o, o / s, f, f / s, t, t / o, oc, tc, tc / oc, agree, j }'
}

printf '%-8s %7s %7s %7s %7s %6s %7s %6s %7s %6s %8s %8s %6s %9s %8s\n' program alone qemu simple \
	counts '×' fast '×' callgr. '×' '+caches' 'callgr.' '×' 'agree %' 'joined %'
measure gzip gzip -c input
input=script.sql measure sqlite3 sqlite3 :memory:
measure cc1 "$cc1" -quiet -O2 input.c -o /dev/null
measure perl perl script.pl
measure python3 /usr/bin/python3 -S script.py
measure xz xz -T1 -3 -c input
for lua in lua5.4 lua5.3 lua; do
	if command -v $lua >/dev/null; then
		measure lua $lua script.lua
		break
	fi
done
measure exact ./exact
measure rounded ./rounded
measure avx2 ./avx2
measure threads ./threads $((size * 20000000))
