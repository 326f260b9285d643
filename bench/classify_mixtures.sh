#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# How true the shares are that `lode classify` states: single programs, two together or in turn, programs
# that no signature has, and such beside a known one, all sampled. The truth is the share of the samples
# in the processes of each program.
#
#   bench/classify_mixtures.sh [DIRECTORY]   makes the recordings (three minutes) and prints the tables;
#                                            started again, it goes on with what DIRECTORY has
#   LODE                                     names the lode to use; default: build/src/cli/lode
#   SEED                                     of the inputs; default: 7000
#
# Signatures are made of inputs 1 to 3, everything else runs on inputs 4 to 8 (classify_inputs.py's kinds
# with other seeds and sizes). A program runs again and again until its time is over.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lode=$(realpath "${LODE:-build/src/cli/lode}")
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	work=$(realpath "$1")
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
cd "$work"
export LC_ALL=C.UTF-8
mkdir -p input
[ -e input/code.8.c ] || "$here/classify_mixtures.py" inputs input "${SEED:-7000}"

# shellcheck source=bench/classify_scripts.sh
. "$here/classify_scripts.sh"

cat >run <<'END'
#!/usr/bin/env bash
# run PROGRAM INPUT SECONDS
n=$2
case $1 in
gzip) c="gzip -6 -c input/text.$n" ;;
xz) c="xz -3 -T1 -c input/text.$n" ;;
perl) c="perl input/count.pl input/words.$n" ;;
perl-fields) c="perl input/fields.pl input/rows.$n" ;;
python3) c="/usr/bin/python3 -S input/count.py input/words.$n" ;;
python3-numbers) c="/usr/bin/python3 -S input/numbers.py input/numbers.$n" ;;
sqlite3) c="sqlite3 -init input/write.$n.sql :memory: .quit" ;;
lua5.4) c="lua5.4 input/numbers.lua input/numbers.$n" ;;
mawk) c="mawk -f input/count.awk input/words.$n" ;;
sort) c="sort input/words.$n" ;;
bzip2) c="bzip2 -9 -c input/text.$n" ;;
zstd) c="zstd -9 --single-thread -q -c input/text.$n" ;;
openssl) c="openssl enc -aes-256-cbc -k seed -S 0102030405060708 -iter 200000 -in input/text.$n" ;;
jq) c="jq -c 'map({id, n: (.tags | length), z: (.at.x * .at.y)}) | sort_by(.z)' input/data.$n.json" ;;
tclsh) c="tclsh input/count.tcl input/words.$n" ;;
cc1) c="$(gcc -print-prog-name=cc1) -quiet -O1 input/code.$n.c -o /dev/null" ;;
esac
exec timeout "$3" sh -c "while :; do $c; done" >/dev/null 2>&1 </dev/null
END
chmod +x run

# record KIND NAME COMMAND: into KIND/NAME.lode.
record() {
	[ ! -e "$1/$2.lode" ] || return 0
	mkdir -p "$1"
	"$lode" record -o part.data -- sh -c "$3" >log 2>&1 || true
	"$lode" import part.data -o part.lode >>log 2>&1 || { cat log && return 1; }
	mv part.lode "$1/$2.lode"
	rm -f part.data
}

known=(gzip xz perl python3 sqlite3 lua5.4 mawk sort)
mkdir -p known alike
for program in "${known[@]}" perl-fields python3-numbers; do
	for n in 1 2 3; do record signed "$program.$n" "./run $program $n 1.2"; done
	for n in 4 5; do record single "$program.$n" "./run $program $n 1.2"; done
	"$lode" signature "signed/$program".[123].lode --name "$program" -o "alike/$program.sig"
	[[ $program = *-* ]] || cp "alike/$program.sig" known
done
for program in bzip2 zstd openssl jq tclsh cc1; do record stranger "$program" "./run $program 5 1.2"; done
mixed=(gzip xz perl python3 sqlite3 mawk)
n=0
for i in "${!mixed[@]}"; do
	for other in "${mixed[@]:i+1}"; do
		one=${mixed[i]} input=$((4 + n % 5))
		n=$((n + 1))
		record turns "$one+$other" "./run $one $input 0.5; ./run $other $input 1.15"
		record together "$one+$other" "./run $one $input 1 & ./run $other $input 1; wait"
	done
done
for pair in gzip+bzip2 xz+zstd perl+jq python3+tclsh sqlite3+openssl mawk+cc1; do
	record beside "$pair" "./run ${pair%+*} 6 1; ./run ${pair#*+} 6 1"
done
for program in perl python3; do
	script=fields
	[ "$program" = perl ] || script=numbers
	record scripts "$program" "./run $program 5 1; ./run $program-$script 5 1"
done
"$here/classify_mixtures.py" tables "$lode"
