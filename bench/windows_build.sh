#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures the cost of windows for many short processes: the processor time of the processes alone,
# recorded with windows and without, in turn. Prints the median of the ratios and their range.
#   bench/windows_build.sh [KIND…]
# KIND: compile (make -j2 of FILES small C files), script (FILES shell scripts of ten commands each),
# true (5·FILES times /bin/true), forks (5·FILES children that end at once). Default: all.
# LODE names the lode to use (default: build/src/cli/lode), SHARE the processor time for windows
# (default: 3%), PAIRS how often each is recorded both ways (default: 7), FILES their number (200).
set -euo pipefail
cd "$(dirname "$0")/.."
lode=$(realpath "${LODE:-build/src/cli/lode}")
share=${SHARE:-3%}
pairs=${PAIRS:-7}
files=${FILES:-200}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

for ((i = 0; i < files; i++)); do
	cat >"file$i.c" <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int compare$i(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int run$i(int n, char **words)
{
	qsort(words, (size_t)n, sizeof(*words), compare$i);
	for (int i = 0; i < n; i++)
		printf("%s %d\n", words[i], i * $i);
	return n;
}
END
done
cat >Makefile <<'END'
all: $(patsubst %.c,%.o,$(wildcard *.c))
%.o: %.c
	$(CC) -O1 -c $< -o $@
END
cat >script.sh <<'END'
for i in 1 2 3; do
	ls /usr/lib | sort -r | head -n 50 | md5sum
	expr "$i" + 1
	grep -c a /etc/passwd
done
END
cat >forks.py <<'END'
import os, sys
for i in range(int(sys.argv[1])):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
END

# run KIND: what the recorded bash executes
run() {
	case $1 in
	compile) echo "make -s -B -j2" ;;
	script) echo "for ((i = 0; i < $files; i++)); do sh script.sh; done" ;;
	true) echo "for ((i = 0; i < 5 * $files; i++)); do /bin/true; done" ;;
	forks) echo "/usr/bin/python3 forks.py $((5 * files))" ;;
	esac
}

# cpu_time OPTION KIND: of all that is executed, in milliseconds
cpu_time() {
	"$lode" record -F 1000 "$1" -o recording -- \
		bash -c "{ $(run "$2"); } >/dev/null; times" 2>record.err |
		tail -n 1 | tr 'ms' '  ' | awk '{ printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }'
}

measure() {
	local kind=$1 i without with
	for ((i = 0; i < pairs; i++)); do
		without=$(cpu_time --windows=off "$kind")
		with=$(cpu_time "--windows=$share" "$kind")
		echo "$without $with $(sed -n 's/.*record: \([0-9,]*\) windows\{0,1\} with \([0-9,]*\) .*/\1 \2/p' record.err)"
	done | awk '{ print ($2 / $1 - 1) * 100, $1, $3, $4 }' | sort -g | awk -v kind="$kind" '
		{ cost[NR] = $1; took[NR] = $2; windows[NR] = $3; steps[NR] = $4 }
		END {
			middle = int((NR + 1) / 2)
			printf "%-8s cost %+5.1f %% (%+.1f to %+.1f) of %d ms, %s windows, %s steps\n", kind,
				cost[middle], cost[1], cost[NR], took[middle], windows[middle], steps[middle]
		}'
}

[ $# -gt 0 ] || set -- compile script "true" forks
for kind; do measure "$kind"; done
