#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a program with a cost planted in two hundred functions, runs it once with `lode run`, and
looks for what was planted among the first two patterns of the report.

    findings.py LODE PROGRAM.c PLACES ATTRIBUTES EXPLANATION

PLACES is how many instructions carry the cost; ATTRIBUTES, separated by commas, of which the charged
instruction must have one; EXPLANATION is a part of what --explain says of it. No function may have over 2 % of the time: a list of hot functions would
show nothing. Exit status: 0 found, 1 not found or wrong, 77 skipped.
"""
import json
import os
import subprocess
import sys
import tempfile

FUNCTIONS = 200


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def fail(text):
    print(f"FAILED: {text}")
    sys.exit(1)


def is_near(value, truth, share):
    return abs(value - truth) <= share * truth


def main():
    lode, source, places, attributes, explanation = sys.argv[1:]
    places, attributes = int(places), attributes.split(",")
    with tempfile.TemporaryDirectory() as directory:
        program, profile = os.path.join(directory, "program"), os.path.join(directory, "x.lode")
        compiler = os.environ.get("INSIGHT_CC", "gcc")
        built = run(compiler, "-O1", "-g", "-o", program, source)
        if built.returncode != 0:
            fail(built.stderr)
        recorded = run(lode, "run", "--frequency", "20000", "-o", profile, "--", program)
        if recorded.returncode != 0:
            print(recorded.stderr)
            if "not allowed" in recorded.stderr or "perf_event_paranoid" in recorded.stderr:
                print("skipped: sampling is not allowed here")
                sys.exit(77)
            fail(f"lode run gives status {recorded.returncode}")
        report = run(lode, "report", profile, "--explain", "--format", "json")
        if report.returncode != 0:
            fail(report.stderr)
        found = json.loads(report.stdout)
        if found["samples"] < 2000:
            print(f"skipped: only {found['samples']} samples, this machine gives the program little time")
            sys.exit(77)
        patterns = [one for one in found["findings"] if one["kind"] == "pattern" and one["spread"] >= 3]
        for one in patterns[:4]:
            print(f"{100 * one['time']:5.1f} % ±{100 * one['time_error']:.1f} places {one['places']} "
                  f"functions {one['functions']} {one['context']} {one['focus']}")
        planted = [one for one in patterns[:2] if set(attributes) & set(one["focus"])]
        if not planted:
            fail(f"none of {attributes} among the first two patterns")
        one = planted[0]
        if not is_near(one["functions"], FUNCTIONS, 0.1):
            fail(f"it is in {one['functions']} functions, not {FUNCTIONS}")
        if not is_near(one["places"], places, 0.1):
            fail(f"it is at {one['places']} places, not {places}")
        if explanation not in (one["explanation"] or ""):
            fail(f"it is explained by: {one['explanation']}")
        if any(top["time"] > 0.02 for top in one["top"]):
            fail("one place has over 2 % of the time: nothing is scattered")


main()
