#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the recording of waits costs: programs alone, and under lode with and without --no-waits.

  bench/waits_cost.py [--pairs N] [--seconds S] [--verb record|run] [--scripts FOLDER] LODE [NAME …]

Each program does a fixed work of some S seconds (4). N times (8) it runs alone, without looks at waits, with
them, with them, without them, alone. Processor time is as the kernel accounts it: of the program and its
children, and of lode. Printed are medians, each with an interval that has the median in 95 % of the cases
(order statistics): by how much lode's processor time is longer with looks, as a share of one processor, which
looks are to keep below 0.75 %; the ratios of the program's processor time, and of that of both together, with
looks to without; and that of both with looks to the program alone.

With --scripts the programs are those of FOLDER/truth.tsv (bench/languages.py), and the looks those at the frames
of their interpreters: --no-waits, with and without --native. --seconds has no effect.
"""
import argparse
import csv
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WAITS_C = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static long rounds, turn, sum;

static void work(long n)
{
	volatile long x = 0;

	while (n-- > 0)
		x += n;
}

/* Two threads hand a turn to each other. */
static void *hand_over(void *own)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		while (turn != (long)own)
			pthread_cond_wait(&turn_changed, &lock);
		turn = 1 - turn;
		pthread_cond_signal(&turn_changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* Sleeps, computes, and takes a lock that all have. */
static void *serve(void *own)
{
	for (long i = 0; i < rounds; i++) {
		nanosleep(&(struct timespec){0, 200000000 + 100000 * ((long)own % 1000)}, NULL);
		work(200000);
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	long n = atol(argv[2]);
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	rounds = atol(argv[3]);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, strcmp(argv[1], "turns") == 0 ? hand_over : serve, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}
"""

# Runs the words after the first, and writes the processor time of what it ran into the file that is the first.
TOOK_C = r"""
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status = 2 << 8;
	pid_t child = argc > 2 ? fork() : -1;

	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 2;
	getrusage(RUSAGE_CHILDREN, &usage);
	FILE *out = fopen(argv[1], "w");
	if (out == NULL)
		return 2;
	fprintf(out, "%.6f\n", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""

WAITS_JAVA = r"""
import java.util.concurrent.*;

public class Waits {
    static int fill(int n) {
        var words = new java.util.HashMap<String, Integer>();
        for (int i = 0; i < n; i++)
            words.merge("w" + i % 5000, 1, Integer::sum);
        return words.size();
    }

    public static void main(String[] given) throws Exception {
        int rounds = Integer.parseInt(given[0]);
        var queue = new ArrayBlockingQueue<Integer>(4);
        var pool = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 8; i++)
            pool.submit(() -> {
                int sum = 0;
                while (queue.take() >= 0)
                    sum += fill(20000);
                return sum;
            });
        for (int i = 0; i < rounds; i++) {
            queue.put(i);
            Thread.sleep(1);
        }
        for (int i = 0; i < 8; i++)
            queue.put(-1);
        pool.shutdown();
    }
}
"""

MAKEFILE = """
all: $(shell seq -f 'x%g' {n})
x%:
\t@for i in 1 2 3; do echo $$i | sed s/1/2/ >/dev/null; done
"""


def programs(folder, seconds):
    """Name → words, each for some seconds on a machine of two processors."""
    (folder / "waits.c").write_text(WAITS_C)
    (folder / "took.c").write_text(TOOK_C)
    for name in ("waits", "took"):
        subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", name, f"{name}.c"], cwd=folder, check=True)
    (folder / "Makefile").write_text(MAKEFILE.replace("{n}", str(int(300 * seconds))))
    all_of = {
        "turns": ["./waits", "turns", "2", str(int(55000 * seconds))],
        "threads": ["./waits", "serve", "1000", str(int(4 * seconds))],
        "make": ["make", "-j2"],
    }
    if shutil.which("javac"):
        (folder / "Waits.java").write_text(WAITS_JAVA)
        subprocess.run(["javac", "Waits.java"], cwd=folder, check=True)
        all_of["java"] = ["java", "-Xmx256m", "Waits", str(int(500 * seconds))]
    return all_of


def scripts_of(folder, source):
    """Likewise, of the programs that a table names."""
    (folder / "took.c").write_text(TOOK_C)
    subprocess.run(["gcc", "-O2", "-o", "took", "took.c"], cwd=folder, check=True)
    shutil.copytree(source, folder, dirs_exist_ok=True)
    with open(source / "truth.tsv", encoding="utf-8") as table:
        return {row["name"]: row["run"].split() for row in csv.DictReader(table, delimiter="\t")}


def cost_of(words, folder):
    """Processor seconds of the program, of all that ran, and seconds by the clock."""
    begin = time.monotonic()
    with open(folder / "said", "wb") as said:
        child = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {(folder / 'said').read_text()}")
    own = float((folder / "took.s").read_text())
    return own, usage.ru_utime + usage.ru_stime, time.monotonic() - begin


def interval_of(values):
    """The lowest and highest of the ordered values between which the median is in 95 % of the cases; of fewer
    than six values, all."""
    ordered, n, outside = sorted(values), len(values), 0
    rank = 0
    while rank < n // 2:
        outside += math.comb(n, rank) * 2 / 2**n
        if outside > 0.05:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def text_of(values, digits):
    low, high = interval_of(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def measure(ways, folder):
    """Of one round and each way, the mean of two runs: seconds of the program's, of lode's, by the clock."""
    costs = [cost_of(ways[way], folder) for way in (0, 1, 2, 2, 1, 0)]
    return [[(one + other) / 2 for one, other in zip(costs[i], costs[5 - i])] for i in range(3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--verb", choices=("record", "run"), default="record")
    parser.add_argument("--scripts", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("lode", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    print(f"{'program':8} {'alone':>7} {'clock':>7}   {'lode, % of a processor':24} {'program, with/without':24} "
          f"{'both, with/without':24} {'both / alone':24}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        lode = [asked.lode.absolute(), asked.verb, "-o", "x.out"]
        if asked.verb == "run":
            lode += ["--report", os.devnull]
        with_looks, without = ([], ["--no-waits"]) if not asked.scripts else (
            ["--no-waits"], ["--no-waits", "--native"])
        all_of = scripts_of(folder, asked.scripts) if asked.scripts else programs(folder, asked.seconds)
        for name, words in all_of.items():
            if asked.names and name not in asked.names:
                continue
            words = ["./took", "took.s", *words]
            ways = [words, [*lode, *without, "--", *words], [*lode, *with_looks, "--", *words]]
            rounds = [measure(ways, folder) for _ in range(asked.pairs)]
            alone, clock = (statistics.median(one[0][what] for one in rounds) for what in (0, 2))
            print(f"{name:8} {alone:6.2f}s {clock:6.2f}s   " + " ".join(f"{text:24}" for text in (
                text_of([100 * ((yes[1] - yes[0]) - (no[1] - no[0])) / yes[2] for _, no, yes in rounds], 2),
                text_of([yes[0] / no[0] for _, no, yes in rounds], 3),
                text_of([yes[1] / no[1] for _, no, yes in rounds], 3),
                text_of([yes[1] / bare[1] for bare, _, yes in rounds], 3))), flush=True)


if __name__ == "__main__":
    main()
