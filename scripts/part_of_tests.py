#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the names of the tests that a run of one part has, a line each.

  part_of_tests.py DIRECTORY K/N SUITE…    all tests of a build directory but for those of these suites,
                                           and of those every N-th from the K-th (1 to N) by name

N runs with each K together have all tests.
"""
import json
import sys


def main(directory, part, *suites):
    words = part.split("/")
    if len(words) != 2 or not all(map(str.isdecimal, words)) or not 1 <= int(words[0]) <= int(words[1]):
        sys.exit(f"part_of_tests.py: '{part}' is not a part, such as 1/3")
    k, n = map(int, words)
    with open(f"{directory}/meson-info/intro-tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    parted = sorted({t["name"] for t in tests if {s.rpartition(":")[2] for s in t["suite"]} & set(suites)})
    left_out = set(parted) - set(parted[k - 1 :: n])
    print(*sorted({t["name"] for t in tests} - left_out), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
