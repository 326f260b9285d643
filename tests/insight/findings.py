#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a program with costs planted in many functions, runs it once with `lode run`, and looks for
what was planted among the first patterns of the report.

    findings.py LODE PROGRAM.c FIRST FUNCTIONS {PLACES ATTRIBUTES EXPLANATION}...

FIRST is among how many patterns each must be; FUNCTIONS, in how many functions; PLACES is how many
instructions carry the cost; ATTRIBUTES, separated by commas, of which the charged instruction must
have one; EXPLANATION is a part of what --explain says of it, or several with "|" between them, each of
which is true on some processor. No place may have over 2 % of the time: a list of hot functions would
show nothing. With COUNTED=1 in the environment executions are counted.

Where the program prints "costs ATTRIBUTE MULTIPLE", it has measured what that instruction costs here, in
multiples of a multiplication of a number in memory: what costs less than that is not asked for.

A virtual machine that its host stops, or takes memory from, is not sampled where its programs wait:
where the first recording does not show what was planted, the next two both have to.
Exit status: 0 found, 1 not found or wrong, 77 skipped.
"""
import json
import os
import subprocess
import sys
import tempfile

LEAST_MULTIPLE = 1


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


class Failure(Exception):
    """What was planted is not found."""


def fail(text):
    raise Failure(text)


def is_near(value, truth):
    """At other places the pattern may cost something, too, such as a rep stosb that is not planted."""
    return 0.9 * truth <= value <= 1.35 * truth


def look_for(patterns, n_functions, places, attributes, explanation):
    planted = [one for one in patterns if set(attributes) & set(one["focus"])]
    if not planted:
        fail(f"none of {attributes} among the first {len(patterns)} patterns")
    one = planted[0]
    if not is_near(one["functions"], n_functions):
        fail(f"{attributes} in {one['functions']} functions, not {n_functions}")
    if not is_near(one["places"], places):
        fail(f"{attributes} at {one['places']} places, not {places}")
    if not any(part in (one["explanation"] or "") for part in explanation.split("|")):
        fail(f"{attributes} is explained by: {one['explanation']}")
    if any(top["time"] > 0.02 for top in one["top"]):
        fail("one place has over 2 % of the time: nothing is scattered")


def record(lode, program, profile):
    how = ["--count", "--fast"] if os.environ.get("COUNTED") else []
    recorded = run(lode, "run", *how, "--frequency", "20000", "-o", profile, "--", program)
    if recorded.returncode != 0:
        print(recorded.stderr)
        if "not allowed" in recorded.stderr or "perf_event_paranoid" in recorded.stderr:
            print("skipped: sampling is not allowed here")
            sys.exit(77)
        fail(f"lode run gives status {recorded.returncode}")
    words = [line.split() for line in recorded.stdout.splitlines() if line.startswith("costs ")]
    return {attribute for _, attribute, multiple in words if float(multiple) < LEAST_MULTIPLE}


def look(lode, program, profile, n_first, n_functions, planted):
    cheap = record(lode, program, profile)
    report = run(lode, "report", profile, "--explain", "--format", "json")
    if report.returncode != 0:
        fail(report.stderr)
    found = json.loads(report.stdout)
    if found["samples"] < 2000:
        print(f"skipped: only {found['samples']} samples, this machine gives the program little time")
        sys.exit(77)
    patterns = [one for one in found["findings"] if one["kind"] == "pattern" and one["spread"] >= 3]
    for one in patterns[:max(4, n_first)]:
        print(f"{100 * one['time']:5.1f} % ±{100 * one['time_error']:.1f} places {one['places']} "
              f"functions {one['functions']} {one['context']} {one['focus']}")
    for i in range(0, len(planted), 3):
        places, attributes, explanation = planted[i:i + 3]
        if cheap & set(attributes.split(",")):
            print(f"not asked for, as it costs little here: {attributes}")
            continue
        look_for(patterns[:n_first], n_functions, int(places), attributes.split(","), explanation)


def main():
    lode, source, n_first, n_functions, *planted = sys.argv[1:]
    n_first, n_functions = int(n_first), int(n_functions)
    with tempfile.TemporaryDirectory() as directory:
        program, profile = os.path.join(directory, "program"), os.path.join(directory, "x.lode")
        compiler = os.environ.get("INSIGHT_CC", "gcc")
        built = run(compiler, "-O1", "-g", "-o", program, source)
        if built.returncode != 0:
            fail(built.stderr)
        try:
            look(lode, program, profile, n_first, n_functions, planted)
        except Failure as failure:
            print(f"not in the first recording: {failure}")
            for _ in range(2):
                look(lode, program, profile, n_first, n_functions, planted)


try:
    main()
except Failure as failure:
    print(f"FAILED: {failure}")
    sys.exit(1)
