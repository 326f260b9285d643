#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lode costs programs that do one thing as often as they can (bench/often.c), by their own clocks.

  bench/often.py [--pairs N] [--seconds S] [--options "OPTION …"] LODE OFTEN [KIND …]

Runs each kind alone and under "lode run" in turn, N times (5), each time with as many rounds as take S
seconds alone (2), and prints how often a second it does its thing and how many times as long it takes:
the median of the pairs, the lowest and the highest.
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
    print(f"{'kind':16} {'a second':>10}   ratio   lowest  highest")
    with tempfile.TemporaryDirectory() as work:
        before = [os.path.realpath(options.lode), "run", "-o", os.path.join(work, "x.lode"), "--report", os.devnull,
                  *options.options.split(), "--"]
        for kind in options.kinds or rounds:
            n = rounds[kind]
            n = max(1, int(n * options.seconds / seconds_of([program, kind, str(n)])))
            words = [program, kind, str(n)]
            pairs = [(seconds_of(words), seconds_of([*before, *words])) for _ in range(options.pairs)]
            ratios = sorted(lode / alone for alone, lode in pairs)
            rate = n / statistics.median(alone for alone, _ in pairs)
            print(f"{kind:16} {rate:10,.0f}   {statistics.median(ratios):5.2f}   {ratios[0]:6.2f}  {ratios[-1]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
