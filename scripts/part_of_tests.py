#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the names of the tests that a run of one part has, a line each.

  part_of_tests.py DIRECTORY K/N SUITE… [--no-suite SUITE]…
        all tests of a build directory but for those of these suites, and of those every N-th from the
        K-th (1 to N) by name; without those of the suites after --no-suite

N runs with each K together have all tests.
"""
import argparse
import json
import sys


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("directory")
    arguments.add_argument("part")
    arguments.add_argument("suites", nargs="*")
    arguments.add_argument("--no-suite", action="append", default=[])
    given = arguments.parse_args()
    words = given.part.split("/")
    if len(words) != 2 or not all(map(str.isdecimal, words)) or not 1 <= int(words[0]) <= int(words[1]):
        sys.exit(f"part_of_tests.py: '{given.part}' is not a part, such as 1/3")
    k, n = map(int, words)
    with open(f"{given.directory}/meson-info/intro-tests.json", encoding="utf-8") as file:
        tests = json.load(file)

    def of_suites(suites):
        return {t["name"] for t in tests if {s.rpartition(":")[2] for s in t["suite"]} & set(suites)}

    parted = sorted(of_suites(given.suites))
    left_out = set(parted) - set(parted[k - 1 :: n]) | of_suites(given.no_suite)
    print(*sorted({t["name"] for t in tests} - left_out), sep="\n")


if __name__ == "__main__":
    main()
