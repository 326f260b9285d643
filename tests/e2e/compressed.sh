#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Recordings that come compressed, as bug reports carry them: each kind by each compressor gives what
# the plain file does; damaged ones, and such as grow without bound, are refused. Prints TAP.
#
#   tests/e2e/compressed.sh LODE CORPUS FLOW
#
# CORPUS is the directory of inputs for the fuzz targets, FLOW a flow file.
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

corpus=$(realpath "$2") flow=$(realpath "$3")
begin "$1"
mkdir tmp
export TMPDIR=$work/tmp

says() { grep -qE "$1" err || echo "does not say '$1'"; }
left_nothing() { [ -z "$(ls -A tmp)" ] || echo "left $(ls -A tmp)"; }
has_not() { [ ! -e "$1" ] || echo "a $1"; }

# imported ARGUMENT…: what a profile of these says, whatever the files are called.
imported() {
	rm -f x.lode
	status=0
	"$lode" import "$@" -o x.lode >out 2>err || status=$?
	{
		cat out
		"$lode" info x.lode
		"$lode" export x.lode -o -
	} 2>>err | sed -E 's/\.(gz|xz|zst|bz2)\>//g; /^  recorded /d'
}

cp "$corpus/callgrind/features" callgrind.out.1
cp "$corpus/trace_file/coded.rps" x.rps
cp "$corpus/samples/registers" perf.data
cp "$corpus/allocation_log/every_kind" allocations
cp "$corpus/jitdump/all_records" jit-9.dump
printf '401000 1000 made_at_run_time\n' >perf-9.map
cp "$corpus/load_map/valgrind.log" valgrind.log
cp "$flow" pairs.flow
printf 'lode-pages 1\ntime 5 9\n7fff0000 7fff1000 4 0\n' >pages
printf 'file,line,attribute\nloop.c,3,colour:red\n' >colours.csv
mkdir directory
cp "$corpus/samples/registers" directory/data
: >directory/data.0

# Each: the file that is compressed, and what is imported with it.
kinds=(
	"callgrind.out.1 FILE"
	"x.rps FILE"
	"perf.data FILE"
	"directory/data directory"
	"allocations perf.data FILE"
	"pages perf.data FILE"
	"jit-9.dump perf.data --jit FILE"
	"perf-9.map perf.data --jit FILE"
	"valgrind.log callgrind.out.1 --map FILE"
	"pairs.flow FILE"
	"colours.csv pairs.flow --attributes FILE"
)
compressors=(gzip:gz xz:xz zstd:zst bzip2:bz2)

n_kinds=0
for kind in "${kinds[@]}"; do
	# Where tests are to be short the compressors take turns.
	tried=("${compressors[@]}")
	[ -z "${LODE_SHORT_TESTS:-}" ] || tried=("${compressors[n_kinds++ % ${#compressors[@]}]}")
	read -ra words <<<"$kind"
	file=${words[0]}
	arguments=("${words[@]:1}")
	imported "${arguments[@]/FILE/$file}" >plain
	faults=("$(status_is 0)")
	cp "$file" kept
	for compressor in "${tried[@]}"; do
		program=${compressor%:*} suffix=${compressor#*:}
		command -v "$program" >/dev/null || continue
		# Also under a name that does not say so.
		"$program" -c kept >"$file.$suffix"
		imported "${arguments[@]/FILE/$file.$suffix}" >unpacked
		faults+=("$(status_is 0)" "$(cmp -s plain unpacked || echo "$program: $(diff plain unpacked | head -n 5)")")
		"$program" -c kept >"$file"
		imported "${arguments[@]/FILE/$file}" >unpacked
		faults+=("$(status_is 0)" "$(cmp -s plain unpacked || echo "$program, without a suffix: differs")")
		rm "$file.$suffix"
	done
	cp kept "$file"
	check "$file, compressed" "${faults[@]}" "$(left_nothing)"
done

# refused NAME FILE WORDS: the import fails, names the file and says so, and leaves nothing.
refused() {
	rm -f x.lode
	status=0
	"$lode" import "$2" -o x.lode >out 2>err || status=$?
	check "$1" "$(status_is 1)" "$(says "^lode import: $2: .*($3)")" "$(has_not x.lode)" "$(left_nothing)"
}

gzip -c perf.data | head -c 500 >cut.gz
refused "one that is cut short" cut.gz 'gzip data: ends early'
xz -c perf.data >bad.xz
printf 'xxxxxxxx' | dd of=bad.xz bs=1 seek=300 conv=notrunc status=none
refused "one that is damaged" bad.xz 'xz data: .'
echo hello | gzip -c >hello.gz
refused "one that is no recording" hello.gz 'neither perf.data'
python3 -c 'import zipfile; zipfile.ZipFile("p.zip", "w").write("perf.data")'
refused "a zip archive" p.zip 'compressed by zip: decompress it first'
gzip -c perf.data | xz -c >twice.xz
refused "one that is compressed twice" twice.xz 'compressed by gzip: decompress it first'
# As a recording begins, and then zeros: 200 MB.
{ cat perf.data; head -c 200000000 /dev/zero; } | zstd -q -c >bomb.zst
refused "one that grows without bound" bomb.zst 'decompresses to more than 512 times its size; .*zstd -d'
gzip -c perf.data >perf.data.gz
export TMPDIR=$work/none
refused "no place to unpack it to" perf.data.gz "cannot make a file in .*/none to decompress it to: No such file .*gzip -d"
export TMPDIR=$work/tmp

printf 'I  400500,4\n L 7fff0000,8\nI  400504,3\n' >lackey
"$lode" trace pack lackey -o plain.rps >/dev/null 2>err
"$lode" trace unpack plain.rps --form csv -o - >plain 2>/dev/null
faults=()
for compressor in "${compressors[@]}"; do
	program=${compressor%:*}
	command -v "$program" >/dev/null || continue
	"$program" -c lackey >packed
	status=0
	"$lode" trace pack packed -o y.rps >out 2>err || status=$?
	"$lode" trace unpack y.rps --form csv -o - >unpacked 2>/dev/null
	faults+=("$(status_is 0)" "$(cmp plain unpacked 2>&1)")
	rm -f y.rps
done
check "traces of other tools, packed" "${faults[@]}"

echo "1..$number"
