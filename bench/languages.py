#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lode says of programs of interpreters whose cost is known, against their own clock.

  bench/languages.py [--runs N] [--keep FOLDER] LODE FOLDER [NAME …]

FOLDER/truth.tsv has a row for each program, by tabs: name, run (words, relative to FOLDER), file, function, lines
(the costly one; others that a diagnosis may name), share_function and share_line (percent of the program's
processor time, with all that is called), error (points), causes, remedy (a regular expression), saving (percent).
Each program is recorded N times (1) with `lode run`. Of each run: function and line, said − true, in points; the
first diagnosis among the first three that names a right cause at the line or beside it, whether its remedy
matches, and what it says to save. A figure is right within 3 points and the truth's own error.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

POINTS = 3
FIRST = 3


def ask(lode, *arguments):
    done = subprocess.run([lode, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"lode {' '.join(map(str, arguments))}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout.decode(errors="replace"))


def is_at(path, name):
    return os.path.basename(path or "") == os.path.basename(name)


def shares_of(lode, profile, row):
    """Percent of the time that the function and the line have with all that they call."""
    asked = ask(lode, "report", profile, "--functions", "--limit", "100000", "--format", "json")
    functions = asked["functions"]
    lines = ask(lode, "report", profile, "--lines", "--limit", "100000", "--format", "json")["lines"]
    total, line = asked["profile"]["weight"], int(row["lines"].split()[0])
    function = sum(one["inclusive"] or one["weight"] for one in functions
                   if one.get("function") == row["function"] and is_at(one.get("file"), row["file"]))
    at = sum(one["inclusive"] for one in lines if is_at(one["file"], row["file"]) and one["line"] == line)
    return 100 * function / total, 100 * at / total


def diagnosis_of(lode, profile, row):
    """Its rank among the first three, whether the remedy matches, and what it saves; None: none is right."""
    lines = [int(line) for line in row["lines"].split()]
    for rank, one in enumerate(ask(lode, "report", profile, "--format", "json")["diagnoses"][:FIRST], 1):
        scope = one["scope"]
        line = scope.get("line") or 0
        if one["cause"] in row["causes"].split() and is_at(scope.get("file"), row["file"]) and \
                any(abs(line - right) <= 1 for right in lines):
            return rank, bool(re.search(row["remedy"], one["remedy"], re.IGNORECASE)), one
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("lode", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    lode = asked.lode.absolute()
    right = [0, 0, 0, 0]
    n = 0
    print(f"{'program':10} {'function':>14} {'line':>14}  diagnosis")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "programs"
        shutil.copytree(asked.folder, folder)
        with open(folder / "truth.tsv", encoding="utf-8") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
        for row in rows:
            if asked.names and row["name"] not in asked.names:
                continue
            for run in range(asked.runs):
                profile = (asked.keep or pathlib.Path(scratch)).absolute() / f"{row['name']}.{run}.lode"
                if not profile.exists():
                    subprocess.run([lode, "run", "-o", profile, "--", *row["run"].split()], cwd=folder, check=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                function, line = shares_of(lode, profile, row)
                found = diagnosis_of(lode, profile, row)
                limit = POINTS + float(row["error"])
                off = [function - float(row["share_function"]), line - float(row["share_line"])]
                n += 1
                right[0] += abs(off[0]) <= limit
                right[1] += abs(off[1]) <= limit
                right[2] += found is not None
                right[3] += found is not None and found[0] == 1 and found[1]
                text = "none of the first three is right"
                if found:
                    rank, has_remedy, one = found
                    low, high = (100 * (one["saves"][end] or 0) for end in ("low", "high"))
                    text = f"D{rank} {one['cause']}, remedy {'right' if has_remedy else 'not the expected one'}; " \
                           f"saves {low:.0f} to {high:.0f} %, true {row['saving']} %"
                print(f"{row['name']:10} {row['share_function']:>6} {off[0]:+7.1f} {row['share_line']:>6} "
                      f"{off[1]:+7.1f}  {text}", flush=True)
    print(f"of {n}: function {right[0]}, line {right[1]}, a right diagnosis among three {right[2]}, "
          f"first with the expected remedy {right[3]}")


main()
