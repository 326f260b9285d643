#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Applies a placement on a machine of two memories that qemu emulates, and prints the program's
# numa_maps without it and with it; then records it, with the nodes of its pages. Then a program that
# follows lists (two_lists.c by gcc, and by clang where there is one) is recorded here, placed for two
# memories, and run there with its pages where they were touched first, and with the placement. Not
# part of the test suite; takes some minutes.
#
#   tests/emulated/two_nodes.sh [BUILD [KERNEL]]
#
# BUILD is "build" unless given; KERNEL a vmlinuz with NUMA, by default the newest one in /boot.
# Debian: apt-get install qemu-system-x86 busybox-static cpio linux-image-cloud-amd64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=${1:-build}
kernel=${2:-$(find /boot -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1)}
lode=$build/src/cli/lode
library=$build/tools/preload/placement/liblode-placement.so

missing=()
command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
[ -x /bin/busybox ] || missing+=(busybox-static)
command -v cpio >/dev/null || missing+=(cpio)
[ -n "$kernel" ] || missing+=(linux-image-cloud-amd64)
if [ ${#missing[@]} -gt 0 ]; then
	echo "two_nodes: install these packages first: ${missing[*]}" >&2
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,proc,sys,tmp,dev}
cp /bin/busybox "$root/bin/"
cp "$lode" "$root/bin/lode"
cp "$library" "$root/bin/"
gcc -O1 -Wall -Wextra -D_GNU_SOURCE -pthread tests/emulated/two_halves.c -o "$root/bin/two_halves"

# The lists' addresses are the same on each machine.
compilers=(gcc)
command -v clang >/dev/null && compilers+=(clang)
two="numa:2 core:1 pu:1"
for compiler in "${compilers[@]}"; do
	lists=$root/bin/two_lists_$compiler
	"$compiler" -O2 -Wall -Wextra -D_GNU_SOURCE -pthread tests/emulated/two_lists.c -o "$lists"
	echo "--- two_lists, $compiler: recorded and placed"
	"$lode" memory record -o "$work/lists.lode" -- "$lists" 60 2>"$work/err" || { cat "$work/err" >&2 && exit 1; }
	"$lode" place "$work/lists.lode" --topology "$two" -o "$root/lists_$compiler.place"
	# Without a placement the kernel may run threads anywhere; this one has each on a node of its own,
	# and all pages where they were touched first.
	printf 'memories 2\nthreads 3\nrun thread 1 on memory 0\nrun thread 2 on memory 1\n' >"$root/threads.place"
done

# Each shared library under the path that the program asks for.
ldd "$lode" "$library" "$root/bin/two_halves" | sed -nE 's|^.*[[:space:]](/[^ ]+) \(0x.*|\1|p' | sort -u |
	while read -r file; do
		install -D "$(realpath "$file")" "$root$file"
	done

cat >"$root/x.place" <<'END'
memories 2
threads 2
run thread 0 on memory 0
run thread 1 on memory 1
place range 0x200000000000 to 0x2000003fffff on memory 0
place range 0x200000400000 to 0x2000007fffff on memory 1
END
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
export LODE_PRELOAD_DIRECTORY=/bin
echo "--- nodes $(/bin/busybox cat /sys/devices/system/node/online)"
echo "--- without a placement"
/bin/two_halves
echo "--- lode place apply"
/bin/lode place apply /x.place -- /bin/two_halves
echo "--- status $?"
echo "--- lode memory record"
/bin/lode memory record --timer 1000 -o /tmp/x.lode -- /bin/lode place apply /x.place -- /bin/two_halves 20000
/bin/lode memory /tmp/x.lode --by page_node --where 'address >> 23 == 0x200000000000 >> 23' --format csv
for compiler in gcc clang; do
	[ -e /bin/two_lists_$compiler ] || continue
	echo "--- two_lists, $compiler: pages where touched first"
	/bin/lode place apply /threads.place -- /bin/two_lists_$compiler 60 numa
	echo "--- two_lists, $compiler: with the placement"
	/bin/lode place apply /lists_$compiler.place -- /bin/two_lists_$compiler 60 numa
done
/bin/busybox poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initramfs"

timeout 600 qemu-system-x86_64 -machine q35 -accel tcg -cpu max -m 512 -smp 2 \
	-object memory-backend-ram,id=m0,size=256M -object memory-backend-ram,id=m1,size=256M \
	-numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 \
	-kernel "$kernel" -initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1 transparent_hugepage=never numa_balancing=disable" \
	-display none -serial stdio -no-reboot -nic none </dev/null | tr -d '\r' |
	sed -n '/^--- nodes/,$p' | tee "$work/said"

# The second half of the block is on node 1 only with the placement.
grep -q '^--- status 0' "$work/said"
sed -n '/^--- without/,/^--- lode place/p' "$work/said" | grep -q ' N0=2048 ' || echo "two_nodes: without a placement pages are not all on node 0 (the kernel may have moved the thread)" >&2
sed -n '/^--- lode place/,/^--- status/p' "$work/said" | grep -qE '^200000000000 prefer[^ ]*:0 .* N0=1024 '
sed -n '/^--- lode place/,/^--- status/p' "$work/said" | grep -qE '^200000400000 prefer[^ ]*:1 .* N1=1024 '
echo "two_nodes: pages are where the placement says"

# Of the few samples that have an address in the block, each has a node, and both nodes have some. (An
# emulated processor is interrupted between blocks of code, so that of the threads' loops hardly a
# sample has an address. The pages are looked at from a tenth of a second on, which the rounds outlast.)
sed -n '/^--- lode memory/,/^--- two_lists/p' "$work/said" |
	awk -F, '$2 == "value" && ($3 == 0 || $3 == 1) { n++ } $2 == "none" { n_none++ }
		END { exit !(n == 2 && n_none == 0) }' ||
	{ echo "two_nodes: the recording does not say on which nodes the pages are" >&2; exit 1; }
echo "two_nodes: and the recording knows on which node they are"

# remote TITLE LEAST MOST: the share of the lists' pages that is on another node than their thread, in
# percent.
remote() {
	sed -n "/^--- two_lists, $1/,/^elapsed/p" "$work/said" | awk -v title="$1" -v least="$2" -v most="$3" '
		/^list / { n++; all += $11 + $14; remote += $NF }
		/^elapsed/ { elapsed = $2 " " $3 }
		END {
			share = all ? 100 * remote / all : -1
			printf "two_nodes: %s: %d of %d pages remote, %s\n", title, remote, all, elapsed
			exit !(n == 2 && all >= 4096 && share >= least && share <= most)
		}' || { echo "two_nodes: expected $2 to $3 % remote" >&2; exit 1; }
}
for compiler in "${compilers[@]}"; do
	remote "$compiler: pages where touched first" 95 100
	remote "$compiler: with the placement" 0 5
done
