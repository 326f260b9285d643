#!/bin/bash
# SPDX-License-Identifier: MIT
# What programs gain from being compiled with a profile that lode made of one ordinary run, beside what
# the compiler's own instrumentation gains: Debian's sources of Lua, zstd and LAME, -O2 -g.
#   bench/pgo.sh DIRECTORY [PROGRAM…]        default: lua zstd lame
# DIRECTORY keeps sources, builds and recordings; what is there is not made again. Programs are trained
# with one input and measured with another, each build in turn, PAIRS times (default: 11); printed is
# the median of the pairs' processor time without the profile ÷ with it − 1, and the quarter and three
# quarters of them. COMPILERS (default: "clang gcc"); LODE names the lode to use (default:
# build/src/cli/lode). Needs deb-src lines in APT's sources; lode's default way of recording.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
lode=$(realpath "${LODE:-build/src/cli/lode}")
pairs=${PAIRS:-11}
read -ra compilers <<<"${COMPILERS:-clang gcc}"
[ $# -gt 0 ] || { sed -n '3,11s/^# *//p' "$0" >&2 && exit 2; }
mkdir -p "$1"
cd "$1"
directory=$PWD
shift
[ $# -gt 0 ] || set -- lua zstd lame

declare -A package=([lua]=lua5.4 [zstd]=zstd [lame]=lame)

# Sources of PROGRAM in src-PROGRAM.
take_sources() {
	[ ! -d "src-$1" ] || return 0
	mkdir -p "download-$1"
	(cd "download-$1" && apt-get -qq source "${package[$1]}" >&2)
	mv "$(find "download-$1" -mindepth 1 -maxdepth 1 -type d)" "src-$1"
	# Debian's build makes this file.
	[ "$1" != lua ] || echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >src-lua/src/lua5.4-deb-multiarch.h
	[ "$1" != lame ] || (cd src-lame && ./configure -q --disable-shared --disable-nasm >/dev/null 2>&1)
}

# Of the training, and of the measurement.
make_inputs() {
	[ ! -e test.wav ] || return 0
	python3 - <<'END'
import array, math, random, wave
for name, seed, seconds in (("train", 1, 90), ("test", 2, 25)):
    chance = random.Random(seed)
    tones = [(chance.uniform(80, 4000), chance.uniform(500, 3000)) for _ in range(12)]
    samples = array.array("h")
    for i in range(44100 * seconds):
        t, beat = i / 44100, (i // 11025) % 12
        value = sum(a * math.sin(2 * math.pi * f * t) for f, a in tones[beat % 9:beat % 9 + 3])
        samples.append(int(max(-32000, min(32000, value + chance.gauss(0, 600)))))
    with wave.open(name + ".wav", "wb") as out:
        out.setparams((1, 2, 44100, 0, "NONE", ""))
        out.writeframes(samples.tobytes())
END
	find /usr/bin -type f -size +100k | LC_ALL=C sort | xargs cat 2>/dev/null | head -c 12000000 >train.data || true
	find /usr/lib/x86_64-linux-gnu -maxdepth 1 -type f -size +100k | LC_ALL=C sort | tail -n 200 | xargs cat 2>/dev/null |
		head -c 6000000 >test.data || true
	find /usr/include -type f -name '*.h' | LC_ALL=C sort | xargs cat 2>/dev/null | head -c 8000000 >train.text || true
	find /usr/share/perl -type f -name '*.p[lm]' | LC_ALL=C sort | xargs cat 2>/dev/null | head -c 3000000 >test.text || true
}

# workload PROGRAM BINARY train|test
workload() {
	case $1 in
	lua) "$2" "$root/bench/programs/pgo.lua" "$3" "$3.text" ;;
	zstd) "$2" -q -12 -c --single-thread "$3.data" "$3.text" ;;
	lame) "$2" --quiet -h "$3.wav" - ;;
	esac >/dev/null
}

# build PROGRAM COMPILER FLAGS OUTPUT
build() {
	local source=src-$1 log=$directory/build.log flags
	read -ra flags <<<"$3"
	case $1 in
	lua)
		(cd "$source/src" && rm -f ./*.o &&
			for file in l[a-z]*.c; do
				[ "$file" = luac.c ] || echo "$file"
			done | xargs -P 2 -n 4 "$2" -std=gnu99 "${flags[@]}" -DLUA_COMPAT_5_3 -DLUA_USE_LINUX -c &&
			"$2" "${flags[@]}" -o "$4" ./*.o -Wl,-E -lm -ldl) >"$log" 2>&1
		;;
	zstd)
		# gcc finds its counts by the names of objects.
		(cd "$source" && make -s clean && rm -rf programs/pgo &&
			make -s -j2 -C programs zstd BUILD_DIR=pgo CC="$2" CFLAGS="$3" LDFLAGS="$3" ZSTD_LEGACY_SUPPORT=0 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 &&
			cp programs/zstd "$4") >"$log" 2>&1
		;;
	lame)
		(cd "$source" && make -s clean && make -s -j2 CC="$2" CFLAGS="$3 -DNDEBUG" LDFLAGS="$3" && cp frontend/lame "$4") >"$log" 2>&1
		;;
	esac || { tail -n 5 "$log" >&2 && return 1; }
}

# make_builds PROGRAM COMPILER: base, lode (from one run), limit (instrumented).
make_builds() {
	local name=$1-$2 options="-O2 -g" counts=$directory/$1-$2.counts
	[ "$2" != clang ] || options+=" -fdebug-info-for-profiling"
	[ ! -x "$name.limit" ] || return 0
	build "$1" "$2" "$options" "$directory/$name.base"
	record "$1" "$2"
	rm -rf "$counts"
	mkdir "$counts"
	if [ "$2" = clang ]; then
		"$lode" export "$name.lode" --format autofdo --binary "$name.base" -o "$name.prof"
		build "$1" "$2" "$options -fprofile-sample-use=$directory/$name.prof" "$directory/$name.lode-built"
		build "$1" "$2" "$options -fprofile-instr-generate=$counts/%p.raw" "$directory/$name.counting"
		workload "$1" "$directory/$name.counting" train
		llvm-profdata merge -o "$counts/all.prof" "$counts"/*.raw
		build "$1" "$2" "$options -fprofile-instr-use=$counts/all.prof -Wno-profile-instr-out-of-date -Wno-profile-instr-unprofiled" \
			"$directory/$name.limit"
	else
		"$lode" export "$name.lode" --format autofdo-gcc --binary "$name.base" -o "$name.prof"
		build "$1" "$2" "$options -fauto-profile=$directory/$name.prof" "$directory/$name.lode-built"
		build "$1" "$2" "$options -fprofile-generate=$counts -fprofile-update=single" "$directory/$name.counting"
		workload "$1" "$directory/$name.counting" train
		build "$1" "$2" "$options -fprofile-use=$counts -Wno-missing-profile" "$directory/$name.limit"
	fi
}

# record PROGRAM COMPILER: the training, once, as anybody would.
record() {
	local binary=$directory/$1-$2.base
	case $1 in
	lua) "$lode" run -o "$1-$2.lode" --report /dev/null -- "$binary" "$root/bench/programs/pgo.lua" train train.text ;;
	zstd) "$lode" run -o "$1-$2.lode" --report /dev/null -- "$binary" -q -12 -c --single-thread train.data train.text ;;
	lame) "$lode" run -o "$1-$2.lode" --report /dev/null -- "$binary" --quiet -h train.wav - ;;
	esac >/dev/null 2>"$1-$2.log"
}

# Processor seconds of one run, outside of the kernel.
seconds_of() {
	local TIMEFORMAT=%U
	{ time workload "$1" "$2" test 2>/dev/null; } 2>&1
}

export LC_ALL=C.UTF-8
make_inputs
printf '%-12s %9s %28s %28s %8s\n' program base,s "lode's profile, %" "instrumented, %" share
for program; do
	take_sources "$program"
	for compiler in "${compilers[@]}"; do
		make_builds "$program" "$compiler"
		name=$program-$compiler
		for ((i = 0; i < pairs; i++)); do
			echo "$(seconds_of "$program" "$directory/$name.base")" \
				"$(seconds_of "$program" "$directory/$name.lode-built")" \
				"$(seconds_of "$program" "$directory/$name.limit")"
		done >"$name.times"
		python3 - "$name" "$name.times" <<'END'
import statistics, sys
rows = [[float(x) for x in line.split()] for line in open(sys.argv[2])]
def gain(column):
    ratios = sorted(100 * (row[0] / row[column] - 1) for row in rows)
    quarters = statistics.quantiles(ratios, n=4, method="inclusive")
    return statistics.median(ratios), "%.1f (%.1f to %.1f)" % (statistics.median(ratios), quarters[0], quarters[2])
(own, own_text), (limit, limit_text) = gain(1), gain(2)
share = "%.0f %%" % (100 * own / limit) if limit > 0.5 else "-"
print("%-12s %9.2f %28s %28s %8s" % (sys.argv[1], statistics.median(row[0] for row in rows), own_text, limit_text, share))
END
	done
done
