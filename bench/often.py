#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lode costs programs that do one thing as often as they can (bench/often.c), by their own clocks.

  bench/often.py [--pairs N] [--seconds S] [--options "OPTION …"] LODE OFTEN [KIND …]

Runs each kind alone, under "lode run" and under "perf record" (cpu-clock:u, 500 samples a second) in turn,
N times (5), each time with as many rounds as take S seconds alone (2), and prints how often a second it
does its thing and how many times as long it takes under each: the median, and the lowest and highest.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile


def seconds_of(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"^seconds ([0-9.]+)$", done.stdout, re.MULTILINE)
    if found is None:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return max(float(found.group(1)), 1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--options", default="", help="of lode run")
    parser.add_argument("lode")
    parser.add_argument("often")
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    program = os.path.realpath(options.often)
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    rounds = dict(zip(listed[::2], map(int, listed[1::2])))
    print(f"{'kind':16} {'a second':>10}   {'lode run':^18}   {'perf record':^18}")
    with tempfile.TemporaryDirectory() as work:
        recorders = [
            [os.path.realpath(options.lode), "run", "-o", os.path.join(work, "x.lode"), "--report", os.devnull,
             *options.options.split(), "--"],
            ["perf", "record", "-q", "-F", "500", "-e", "cpu-clock:u", "-o", os.path.join(work, "x.data"), "--"]]
        for kind in options.kinds or rounds:
            n = rounds[kind]
            n = max(1, int(n * options.seconds / seconds_of([program, kind, str(n)])))
            words = [program, kind, str(n)]
            runs = [[seconds_of([*before, *words]) for before in [[], *recorders]] for _ in range(options.pairs)]
            rate = n / statistics.median(alone for alone, *_ in runs)
            ratios = [sorted(run[i] / run[0] for run in runs) for i in (1, 2)]
            print(f"{kind:16} {rate:10,.0f}   " + "   ".join(
                f"{statistics.median(of):4.2f} ({of[0]:4.2f}–{of[-1]:5.2f})" for of in ratios), flush=True)


if __name__ == "__main__":
    main()
