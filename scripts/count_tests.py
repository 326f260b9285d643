#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts test cases in Meson's testlog.json: each TAP line is a case, and so is each test without any.

  count_tests.py LOG [AGAIN]           prints the names of what failed with what it said, the number of
                                       skipped cases where there are some, and last "N passed, N failed";
                                       exit status 0 when none failed and at least one passed. Tests of
                                       AGAIN were run once more, and count by that; what failed only
                                       before is printed, too
  count_tests.py --failed-timing LOG   prints the names of the failed tests of the suite "timing", unless
                                       they are so many that it is no chance
"""
import json
import re
import sys

TAP = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
SKIPPED = re.compile(r"#\s*(skip|todo)", re.IGNORECASE)


def count(test):
    """(passed, failed, skipped) of one test."""
    passed = failed = skipped = 0
    for line in TAP.finditer(test.get("stdout") or ""):
        if SKIPPED.search(line.group(2)):
            skipped += 1
        elif line.group(1):
            failed += 1
        else:
            passed += 1
    result = test["result"]
    if result in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS") and failed == 0:
        failed = 1  # it crashed, or has no cases of its own
    elif passed + failed + skipped == 0:
        passed, skipped = (0, 1) if result == "SKIP" else (1, 0)
    return passed, failed, skipped


SLOW_SECONDS = 10  # from which on a test is named, and so many of them
N_SLOWEST = 10


def print_slowest(tests):
    slow = sorted(((test.get("duration", 0), name) for name, test in tests.items()), reverse=True)
    named = [f"{name.rpartition(' / ')[2]} {seconds:.0f} s" for seconds, name in slow[:N_SLOWEST] if seconds >= SLOW_SECONDS]
    if named:
        print("slowest:", ", ".join(named))


LINES = 12  # of what a failed case said, and of what one that crashed said last


def said(test):
    """Each failed case with the lines that explain it; the last lines where no case failed."""
    output = (test.get("stdout") or "").splitlines()
    lines = []
    left = 0
    for line in output:
        case = TAP.match(line)
        if case:
            left = LINES if case.group(1) and not SKIPPED.search(case.group(2)) else 0
        if left > 0:
            lines.append(line)
            left -= 1
    return lines or (output + (test.get("stderr") or "").splitlines())[-LINES:]


def read(path):
    """name: test, of a log"""
    with open(path, encoding="utf-8", errors="replace") as log:
        return {test["name"]: test for test in map(json.loads, filter(str.strip, log))}


MOST_BY_CHANCE = 8


def print_failed_timing(tests):
    """"lode:e2e+timing / e2e/attach": suites before the name"""
    failed = [words[-1] for name, test in tests.items() if count(test)[1]
              and (words := name.partition(" / "))[1] and "timing" in re.split(r"[:+]", words[0])]
    if len(failed) <= MOST_BY_CHANCE:
        for name in failed:
            print(name)


def report(verdict, test):
    print(f"{verdict} {test['name']}")
    for line in said(test):
        print(f"    {line}")


def main(path, again=None):
    sums = [0, 0, 0]
    try:
        tests = read(path)
    except OSError as error:
        print(f"no test ran: {error}")
        tests = {}
    second = read(again) if again else {}
    for name, test in tests.items():
        counts = count(second.get(name, test))
        sums = [a + b for a, b in zip(sums, counts)]
        if counts[1]:
            report("FAILED", second.get(name, test))
        elif name in second:
            report("FAILED ONCE", test)
    print_slowest(tests)
    if sums[2]:
        print(f"{sums[2]} skipped")
    print(f"{sums[0]} passed, {sums[1]} failed")
    return 0 if sums[1] == 0 and sums[0] > 0 else 1


if __name__ == "__main__":
    if sys.argv[1] == "--failed-timing":
        print_failed_timing(read(sys.argv[2]))
    else:
        sys.exit(main(*sys.argv[1:]))
