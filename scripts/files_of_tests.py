#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the files of a build directory that tests need, to be given to ninja.

  files_of_tests.py [--suite SUITE] [--and-all-else] DIRECTORY [NAME…]

The tests are those of a suite and those named; --and-all-else: also all but the programs of other
tests. What a test has by the path alone, as of a program that it runs, is among its files only so.
"""
import argparse
import json
import os


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--suite")
    arguments.add_argument("--and-all-else", action="store_true")
    arguments.add_argument("directory")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()

    def read(what):
        with open(f"{given.directory}/meson-info/intro-{what}.json", encoding="utf-8") as file:
            return json.load(file)

    def is_chosen(test):
        return test["name"] in given.names or given.suite in [s.rpartition(":")[2] for s in test["suite"]]

    tests = read("tests")
    needed = {target for test in filter(is_chosen, tests) for target in test["depends"]}
    targets = {target["id"]: target for target in read("targets")}
    if given.and_all_else:
        programs = {test["cmd"][0] for test in tests}
        needed |= {
            name
            for name, target in targets.items()
            if target["build_by_default"] and programs.isdisjoint(target["filename"])
        }
    files = {os.path.relpath(file, given.directory) for name in needed for file in targets[name]["filename"]}
    print(*sorted(files))


if __name__ == "__main__":
    main()
