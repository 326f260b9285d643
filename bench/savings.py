#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of a diagnosis's time its remedy saves, from pairs of programs: what `least` and `most` are.

    savings.py FILE…       the JSON lines of bench/diagnoses.py --json

For each cause and each group of causes: the pairs, and the 10 % and 90 % quantiles of saving ÷ time of the
first right diagnosis, which src/analyses/diagnoses/causes.ini gives as `least` and `most`. A cause with
fewer than five kinds of programs takes its group's. Then how intervals made so hold on programs that they
were not made from: each kind (a twin's seeds and shares are one) in turn is left out, and its interval is
by the quantiles of the others. In both tables coverage is the part of the savings that lie within, and the
score that of bench/diagnoses.py, beside that of [0, time]. The last columns are the same for the intervals
that lode gave, which the other bounds of loops narrow. Last the pairs outside what lode gave.
"""
import json
import math
import re
import sys

LEAST_KINDS = 5
TAIL = 0.1
MOST_OF_ALL = 0.99

GROUPS = {
    "services": "service-* repeated-work",
    "kernel": "system-call page-fault kernel-* page-cache scheduling",
    "branch-like": "*-mispredict",
    "recurrence-like": "recurrence-* false-dependence kept-in-memory throughput",
    "memory-like": "pointer-chase early-address tlb-reach partly-used-lines working-set memory-bandwidth "
                   "store-bound conflict-miss shared-line gather",
}
OTHER_GROUP = "place-like"


def group_of(cause):
    for group, words in GROUPS.items():
        if any(re.fullmatch(word.replace("*", ".*"), cause) for word in words.split()):
            return group
    return OTHER_GROUP


def kind_of(pair):
    """A twin without its seed and share."""
    return "twin " + pair.rsplit("-", 2)[0] if re.search(r"-\d+-\d+$", pair) else pair


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return [row for row in rows if row.get("place") and row.get("saving") is not None and row["right"] != ["-"]
            and row["time"] > 0]


def ratio_of(row):
    return max(row["saving"], 0) / row["time"]


def quantiles(rows):
    """The values that TAIL of further ones are expected below, and above (ranks of n + 1)."""
    ratios = sorted(map(ratio_of, rows))
    rank = max(math.floor(TAIL * (len(ratios) + 1)), 1)
    return ratios[rank - 1], ratios[-rank]


def basis_of(rows, cause):
    """The rows that a cause's interval is made from."""
    own = [row for row in rows if row["cause"] == cause]
    if len({kind_of(row["pair"]) for row in own}) >= LEAST_KINDS:
        return own
    alike = [row for row in rows if group_of(row["cause"]) == group_of(cause)]
    return alike if len({kind_of(row["pair"]) for row in alike}) >= LEAST_KINDS else rows


def score(low, high, value):
    return high - low + 10 * max(0, low - value, value - high)


def left_out_interval(rows, row):
    others = [one for one in rows if kind_of(one["pair"]) != kind_of(row["pair"])]
    least, most = quantiles(basis_of(others, row["cause"]))
    high = min(most * row["time"], MOST_OF_ALL)
    return min(least * row["time"], high), high


def sums(intervals, rows):
    """Coverage, times better than [0, time], mean score."""
    within = better = total = 0
    for (low, high), row in zip(intervals, rows):
        own = score(low, high, row["saving"])
        within += low <= row["saving"] <= high
        better += own < score(0, row["time"], row["saving"])
        total += own
    return f"{within:4} {better:6} {100 * total / len(rows):5.0f}"


def print_line(name, rows, left_out):
    given = [(row["low"] or 0, row["high"]) for row in rows]
    of_time = sum(score(0, row["time"], row["saving"]) for row in rows)
    least, most = quantiles(rows)
    print(f"{name:22} {len(rows):5} {least:6.2f} {most:6.2f}  {sums([left_out[row['pair']] for row in rows], rows)}"
          f"   {sums(given, rows)}   {100 * of_time / len(rows):5.0f}")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows = read(sys.argv[1:])
    if len({kind_of(row["pair"]) for row in rows}) < 2:
        sys.exit("savings.py: fewer than two kinds of pairs have a right diagnosis")
    left_out = {row["pair"]: left_out_interval(rows, row) for row in rows}
    print(f"{'':22} {'':5} {'quantiles':>13}  {'on those left out':>17}   {'as lode gave':>17}   [0,t]\n"
          f"{'':22} {'pairs':>5} {'10 %':>6} {'90 %':>6}  {'in':>4} {'better':>6} {'score':>5}"
          f"   {'in':>4} {'better':>6} {'score':>5}   score")
    for name_of in (lambda row: row["cause"], lambda row: group_of(row["cause"]), lambda row: "all"):
        for name in sorted(set(map(name_of, rows))):
            print_line(name, [row for row in rows if name_of(row) == name], left_out)
        print()
    for row in rows:
        low, high = row["low"] or 0, row["high"]
        if not low <= row["saving"] <= high:
            print(f"{row['pair']:24} {row['cause']:20} time {100 * row['time']:3.0f}, saves {100 * low:3.0f} – "
                  f"{100 * high:3.0f}, true {100 * row['saving']:4.0f}: ratio {ratio_of(row):.2f}")


if __name__ == "__main__":
    main()
