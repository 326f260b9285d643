#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What `lode run --count` says before it counts, and how long counting took then: seconds of the
# processor in the program and in QEMU, without and with simulated caches.
#
#   bench/count_estimate.sh [LODE [SIZE]]     LODE is build/src/cli/lode unless given; at SIZE 1 the
#                                             programs take a third of a second alone
# ONLY='gzip cc1' takes some programs, HOW='caches' one way of counting.
set -euo pipefail
size=${2:-1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/scratch.sh
. "$here/scratch.sh" "${1:-}"

# lode finds this one, which writes down what QEMU takes.
mkdir bin
qemu=$(command -v qemu-x86_64)
cat >bin/qemu-x86_64 <<END
#!/bin/bash
TIMEFORMAT=%U
exec 9>&2
{ time "$qemu" "\$@" 2>&9 9>&-; } 2>"$work/was"
END
chmod +x bin/qemu-x86_64
export PATH=$work/bin:$PATH

# of N, as many as SIZE says
times() { awk -v n="$1" -v size="$size" 'BEGIN { printf "%d", n * size }'; }

head -c "$(times 5000000)" "$cc1" >input
{
	echo 'CREATE TABLE t(a,b);BEGIN;'
	seq "$(times 60000)" | awk '{ print "INSERT INTO t VALUES(" $1 "," $1 * 7919 % 10007 ");" }'
	echo 'COMMIT;SELECT count(*) FROM t x JOIN t y ON x.a=y.b;'
} >script.sql
for i in $(seq "$(times 60)"); do
	echo "int f$i(const int *v, int n) { int s = $i; for (int i = 0; i < n; i++) s += v[i] * (s ^ i); return s; }"
done >input.c
echo "my %h; for my \$i (1..$(times 1200000)) { \$h{\$i % 997} .= chr(65 + \$i % 26); } print length(join '', values %h);" >script.pl
echo "print(sum(len(str(i * i)) for i in range($(times 1200000))))" >script.py
seq "$(times 400000)" | shuf --random-source=input >numbers
sed "s/N = [0-9]*/N = 600/; s/= i + j;/= (i + j) * 0.1;/" "$here/trace_programs/matrix_multiply.c" >rounded.c
gcc -O2 -o rounded rounded.c
gcc -O2 -o linked_list "$here/trace_programs/linked_list.c"

# measure NAME COMMAND…
measure() {
	local name=$1 alone how said
	local options=()
	shift
	[[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
	for how in ${HOW:-fast caches}; do
		options=()
		[ "$how" = caches ] || options=(--fast)
		alone=$({ TIMEFORMAT=%U; time "$@" >/dev/null 2>&1 <"${input:-/dev/null}"; } 2>&1)
		rm -f x.lode was
		"$lode" run --count "${options[@]}" -o x.lode -- "$@" >/dev/null 2>notes <"${input:-/dev/null}" || true
		said=$(grep -oP 'for some \K[0-9]+ to [0-9]+' notes || echo -)
		printf '%-8s %-8s %6s  %-12s %6s\n' "$name" "$how" "$alone" "$said" "$(tail -n 1 was)"
	done
}

printf '%-8s %-8s %6s  %-12s %6s\n' program '' alone said was
measure gzip gzip -c input
input=script.sql measure sqlite3 sqlite3 :memory:
measure cc1 "$cc1" -quiet -O2 input.c -o /dev/null
measure perl perl script.pl
measure python3 /usr/bin/python3 -S script.py
measure sort sort -n --parallel=1 numbers
measure rounded ./rounded
measure list ./linked_list
