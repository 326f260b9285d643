#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# How well `lode classify` tells workloads apart, and whether it finds code that does not belong there.
#
#   bench/classify.sh [DIRECTORY]     makes all profiles and prints the tables; ended and started again,
#                                     it goes on with the profiles that DIRECTORY has
#   LODE                              names the lode to use; default: build/src/cli/lode
#   ONLY='gzip-1 sort'                these workloads alone
#   HOW='counted sampled'             which profiles: with counted executions, and with those that are
#                                     inferred from samples; also 'across', the sampled ones against
#                                     signatures of the counted ones. Default: all three
#   FREQUENCY                         samples per second; default: 4000, as lode record has it
#
# Each workload runs on four inputs (classify_inputs.py). Each input is left out once: signatures are made
# of the other three, and what was left out is classified. Then the fourth input once more, with a hash
# loop (classify_foreign.c) that takes 5 % of the executions. Of Debian's programs there is nothing to
# link again; the loop is a library that a copy of the program needs (DT_NEEDED, by patchelf), and its
# constructor runs before main(). Where that cannot be done – no patchelf, a static program – the
# library is preloaded, and the table says so.
# The first constants of the rule (bench/results/classify.md) were chosen on the workloads marked "made"; the
# others were looked at once, afterwards.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lode=$(realpath "${LODE:-build/src/cli/lode}")
hows=${HOW:-counted sampled across}
plugin=$(dirname "$lode")/../../tools/qemu_plugin/liblode-trace.so
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	work=$(realpath "$1")
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
cd "$work"
unset LD_PRELOAD DEBUGINFOD_URLS
export LC_ALL=C.UTF-8
mkdir -p input counted sampled linked
[ -e input/data.4.json ] || "$here/classify_inputs.py" input
cc1=$(gcc -print-prog-name=cc1)
[ -e foreign.so ] || gcc -O2 -fPIC -shared -o foreign.so "$here/classify_foreign.c"

# shellcheck source=bench/classify_scripts.sh
. "$here/classify_scripts.sh"

# workload NAME made|held COMMAND…: %N stands for the number of the input.
names=() roles=() commands=()
workload() {
	[ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]] || return 0
	command -v "$3" >/dev/null || return 0
	names+=("$1") roles+=("$2")
	shift 2
	commands+=("$(printf '%q ' "$@")")
}
workload gzip-1 made gzip -1 -c input/text.%N
workload gzip-9 made gzip -9 -c input/text.%N
workload cc1-O0 made "$cc1" -quiet -O0 input/code.%N.c -o /dev/null
workload perl-words made perl input/count.pl input/words.%N
workload sqlite-write made sqlite3 -init input/write.%N.sql :memory: .quit
workload sort made sort input/words.%N
workload openssl-aes made openssl enc -aes-256-cbc -k seed -S 0102030405060708 -iter 20000 -in input/text.%N
workload python-words made /usr/bin/python3 -S input/count.py input/words.%N
workload bzip2 held bzip2 -9 -c input/text.%N
workload xz-0 held xz -0 -T1 -c input/text.%N
workload xz-6 held xz -6 -T1 -c input/text.%N
workload zstd-3 held zstd -3 --single-thread -q -c input/text.%N
workload zstd-15 held zstd -15 --single-thread -q -c input/text.%N
workload cc1-O2 held "$cc1" -quiet -O2 input/code.%N.c -o /dev/null
workload perl-fields held perl input/fields.pl input/rows.%N
workload python-numbers held /usr/bin/python3 -S input/numbers.py input/numbers.%N
workload lua held lua5.4 input/numbers.lua input/numbers.%N
workload mawk held mawk -f input/count.awk input/words.%N
workload tcl held tclsh input/count.tcl input/words.%N
workload jq held jq -c 'map({id, n: (.tags | length), z: (.at.x * .at.y)}) | sort_by(.z)' input/data.%N.json
workload sqlite-read held sqlite3 -init input/read.%N.sql :memory: .quit
workload sort-n held sort -n input/numbers.%N
workload openssl-sha512 held openssl dgst -sha512 input/text.%N input/words.%N input/rows.%N input/numbers.%N

# with_foreign PROGRAM: a copy of it that needs the library; the program itself where that cannot be.
with_foreign() {
	local program copy
	program=$(command -v "$1")
	copy=$work/linked/$(basename "$program")
	if [ ! -e "$copy" ]; then
		cp -L "$program" "$copy.part"
		if patchelf --add-needed "$work/foreign.so" "$copy.part" 2>log; then
			mv "$copy.part" "$copy"
		else
			rm "$copy.part"
			copy=$program
		fi
	fi
	echo "$copy"
}

# profile HOW NAME N COMMAND…, into HOW/NAME.N.lode; FOREIGN: hashes that the library makes.
profile() {
	local how=$1 name=$2 n=$3 program preload=
	shift 3
	[ ! -e "$how/$name.$n.lode" ] || return 0
	program=$(command -v "$1")
	if [ -n "${FOREIGN:-}" ]; then
		program=$(with_foreign "$1")
		[ "$program" != "$(command -v "$1")" ] || preload=$work/foreign.so
		if [ -n "$preload" ]; then echo preloaded; else echo linked; fi >"$how/$name.$n.how"
	fi
	if [ "$how" = sampled ]; then
		env ${FOREIGN:+FOREIGN_HASHES="$FOREIGN"} ${preload:+LD_PRELOAD="$preload"} \
			"$lode" record -F "${FREQUENCY:-4000}" -o part.data -- "$program" "${@:2}" >/dev/null 2>log </dev/null || true
		"$lode" import part.data -o part.lode >>log 2>&1 || { cat log && return 1; }
		rm -f part.data
	else
		rm -rf counts
		mkdir counts
		env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ \
			qemu-x86_64 -cpu max ${FOREIGN:+-E FOREIGN_HASHES="$FOREIGN"} \
			${preload:+-E LD_PRELOAD="$preload"} \
			-plugin "$plugin,counts=$work/counts" -0 "$1" "$program" "${@:2}" \
			>/dev/null 2>log </dev/null || true
		"$lode" import counts/counts.* -o part.lode >>log 2>&1 || { cat log && return 1; }
		rm -rf counts
	fi
	mv part.lode "$how/$name.$n.lode"
}
executions() { sqlite3 -readonly "counted/$1.lode" "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'total_count'"; }

# The instructions of a hash are those of a thousand more in a program that does nothing.
FOREIGN=1000 profile counted nothing 1 /bin/true
FOREIGN=2000 profile counted nothing 2 /bin/true
hash=$((($(executions nothing.2) - $(executions nothing.1)) / 1000))

# How many hashes are 5 % of what a workload executes is counted, whatever is measured: executions that
# are inferred from samples are estimates.
profile_all() {
	local how=$1 i n name command
	for i in "${!names[@]}"; do
		name=${names[i]}
		for n in 1 2 3 4; do
			eval "profile $how $name $n ${commands[i]//%N/$n}"
		done
		command=${commands[i]//%N/4}
		eval "profile counted $name 4 $command"
		FOREIGN=$(($(executions "$name.4") / 19 / hash))
		eval "profile $how foreign-$name 4 $command"
		FOREIGN=
	done
}

# is_current FILE SOURCE…: it exists, and no source is newer.
is_current() {
	local file=$1 source
	[ -e "$file" ] || return 1
	for source in "${@:2}"; do [ ! "$source" -nt "$file" ] || return 1; done
}

# The signatures of HOW, each of three inputs: HOW/known-N are those that leave input N out.
sign_all() {
	local how=$1 name n other others signature
	mkdir -p "$how/signatures"
	for n in 1 2 3 4; do
		rm -rf "$how/known-$n"
		mkdir "$how/known-$n"
		for name in "${names[@]}"; do
			signature=$how/signatures/$name.$n.sig
			others=()
			for other in 1 2 3 4; do [ $other = $n ] || others+=("$how/$name.$other.lode"); done
			is_current "$signature" "${others[@]}" "$lode" ||
				"$lode" signature "${others[@]}" --name "$name" -o "$signature"
			ln "$signature" "$how/known-$n/$name.sig"
		done
	done
}

# What is left out, and what it is classified as: FROM profiles by the signatures of KNOWN.
classify_all() {
	local from=$1 known=$2 out=$3 name n
	mkdir -p "$out"
	for name in "${names[@]}"; do
		for n in 1 2 3 4; do
			"$lode" classify "$from/$name.$n.lode" --signatures "$known/known-$n" --format json \
				>"$out/$name.$n.json"
		done
		"$lode" classify "$from/foreign-$name.4.lode" --signatures "$known/known-4" --format json \
			>"$out/foreign-$name.4.json"
	done
}

# tables CLASSIFIED FROM TITLE
tables() {
	local workloads=() i
	for i in "${!names[@]}"; do
		workloads+=("${names[i]}:${roles[i]}:$(cat "$2/foreign-${names[i]}.4.how")")
	done
	printf '\n== %s\n' "$3"
	"$here/classify_table.py" "$1" "${workloads[@]}"
}

for how in $hows; do
	case $how in
	counted | sampled)
		profile_all "$how"
		sign_all "$how"
		classify_all "$how" "$how" "classified-$how"
		;;
	across)
		profile_all counted
		profile_all sampled
		sign_all counted
		classify_all sampled counted classified-across
		;;
	*)
		echo "classify.sh: HOW: '$how' is not counted, sampled or across" >&2
		exit 2
		;;
	esac
done
for how in $hows; do
	case $how in
	counted) tables classified-counted counted "executions counted" ;;
	sampled) tables classified-sampled sampled "executions inferred from samples" ;;
	across) tables classified-across sampled "inferred from samples, by signatures of counted ones" ;;
	esac
done
