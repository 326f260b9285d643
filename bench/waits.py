#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lode says of programs that measure their own waiting, against what they measured in the same run.

    waits.py LODE DIRECTORY [NAME…]

DIRECTORY has the programs and waits.tsv: name, how to build and run it, and what is right: reason, object,
function and holder (regular expressions, "-": not asked) and the causes of which one is to be among the first
three diagnoses. With TRUTH=FILE a program appends lines of its own figures there: first that of the clock.

    --keep DIR   programs, profiles and truths are left there

For each program: what it waited by its own clock, what lode says that it waited at the costliest place that
fits, both in thread-seconds; right is a difference of no more than 3 % of clock × threads, or 5 % of the truth.
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

FIRST = 3


def read_truth(path):
    """Seconds of the clock, and of the waits."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return float(rows[0][5]), sum(float(row[5]) for row in rows[1:])


def fits(pattern, text):
    return pattern == "-" or re.search(pattern, text or "") is not None


def cost_of(rows):
    """The costliest group of rows that differ in their holder or thread only, and one of its rows. A program
    cannot tell who had the processor that it waited for."""
    groups = {}
    for row in rows:
        of = None if row["reason"] == "processor" else row["object"]
        groups.setdefault((row["reason"], of, row["function"]), []).append(row)
    most = max(groups.values(), key=lambda group: sum(row["seconds"] for row in group), default=[])
    return sum(row["seconds"] for row in most), most


def judge(case, waits, diagnoses, clock, truth):
    """What is wrong, as words; and the seconds that lode says."""
    rows = [row for row in waits["waits"] if not row["idle"] and re.fullmatch(case["reason"], row["reason"])
            and fits(case["object"], row["object"]) and fits(case["function"], row["function"])]
    seconds, most = cost_of(rows)
    wrong = []
    if not rows:
        costliest = max(waits["waits"], key=lambda row: row["seconds"], default=None)
        return ["nothing fits; the costliest is " + (" ".join(
            str(costliest[name]) for name in ("reason", "object", "function", "seconds")) if costliest else "none")], 0
    if abs(seconds - truth) > max(0.03 * clock * float(case["threads"]), 0.05 * truth):
        wrong.append("seconds")
    if case["holder"] != "-" and not any(row["holder"] and fits(case["holder"], row["holder"]["function"]) for row in most):
        wrong.append("holder " + str([row["holder"] and row["holder"]["function"] for row in most]))
    causes = [one["cause"] for one in diagnoses[:FIRST]]
    if not set(causes) & set(case["causes"].split()):
        wrong.append("causes " + " ".join(causes))
    return wrong, seconds


def measure(lode, case, folder):
    truth, profile = folder / "truth", folder / "x.lode"
    truth.unlink(missing_ok=True)
    subprocess.run(case["build"], shell=True, cwd=folder, check=True)
    environment = {**os.environ, "TRUTH": str(truth)}
    subprocess.run([lode, "run", "-o", profile, "--report", "/dev/null", "--", *case["run"].split()], cwd=folder,
                   env=environment, stdout=subprocess.DEVNULL, check=True)

    def said(*options):
        return json.loads(subprocess.run([lode, "report", *options, "--format", "json", profile],
                                         check=True, capture_output=True).stdout)

    return said("--waits"), said()["diagnoses"], *read_truth(truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("lode", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    with open(asked.directory / "waits.tsv", encoding="utf-8") as file:
        cases = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                 if not asked.names or row["name"] in asked.names]
    n_right = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            folder = (asked.keep or pathlib.Path(scratch)) / case["name"]
            shutil.copytree(asked.directory, folder, dirs_exist_ok=True)
            # The folder it was copied from may be read-only.
            folder.chmod(0o755)
            waits, diagnoses, clock, truth = measure(asked.lode.absolute(), case, folder.absolute())
            wrong, seconds = judge(case, waits, diagnoses, clock, truth)
            n_right += not wrong
            print(f"{case['name']:10} {truth:7.3f} s measured, {seconds:7.3f} s said, of {clock:.2f} s by the clock: "
                  f"{'; '.join(wrong) or 'right'}", flush=True)
    print(f"{n_right} of {len(cases)} right")
    return n_right < len(cases)


if __name__ == "__main__":
    sys.exit(main())
