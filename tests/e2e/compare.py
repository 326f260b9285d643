#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lode compare on programs whose difference is known. Prints TAP; skips where nothing can be sampled.

    tests/e2e/compare.py LODE
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>

/* Each round takes equally long. */
__attribute__((noipa)) static unsigned same(unsigned x, long rounds)
{
	for (long i = 0; i < rounds; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

__attribute__((noipa)) static unsigned grown(unsigned x, long rounds)
{
	for (long i = 0; i < rounds; i++)
		x = (x ^ 61u) * 1664525u + 1013904223u;
	return x;
}

int main(int argc, char **argv)
{
	unsigned x = same(1, 60000000);

	x = grown(x, 20000000 * atol(argv[1]));
	printf("%u\n", x);
	fputs("\xff\xfe odd words\n", stderr);
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def main():
    lode = os.path.realpath(sys.argv[1])
    os.chdir(tempfile.mkdtemp())
    with open("work.c", "w", encoding="utf-8") as source:
        source.write(PROGRAM)
    if run("gcc", "-O2", "-g", "work.c", "-o", "work").returncode != 0:
        print("1..0 # SKIP no gcc")
        return
    if run(lode, "record", "-o", "true.data", "--", "/bin/true").returncode != 0:
        print("1..0 # SKIP nobody may sample here")
        return
    cases = []

    def case(name, fault):
        cases.append((name, fault))

    more = run(lode, "compare", "--format=json", "--fail-above=10", "--keep=kept", "--",
               "./work", "1", "---", "./work", "5")
    told = json.loads(more.stdout) if more.returncode == 3 else {"changes": []}
    by = {(row["kind"], row["name"]): row for row in told["changes"]}
    whole = by.get(("processor time", "processor time"), {"low": 0, "high": 0})
    # 60 + 20 million rounds, of which each of grown() takes one operation of four more.
    case("more work is more time, and is status 3",
         (more.returncode != 3 or not 0.5 < whole["low"] <= whole["change"] <= whole["high"] < 2.5)
         and (more.returncode, more.stderr, whole))
    grown, same = by.get(("function", "grown")), by.get(("function", "same"))
    case("the function that grew has it", (grown is None or not grown["is_told"] or not same or
                                           abs(grown["change"] - whole["change"]) > 0.3 or
                                           abs(same["change"]) > 0.15) and (grown, same))
    case("runs and commands", (told.get("runs") != 7 or told["base"] != "./work 1" or
                               not 0.95 < told["confidence"] < 0.96) and told)
    kept = run(lode, "report", "kept/b7.lode")
    case("profiles are kept", (kept.returncode != 0 or len(os.listdir("kept")) != 14) and os.listdir("kept"))
    less = run(lode, "compare", "-n", "3", "--fail-above=10", "--", "./work", "5", "---", "./work", "1")
    case("less work is less time", (less.returncode != 0 or " less processor time (" not in less.stdout)
         and (less.returncode, less.stdout, less.stderr))
    alike = run(lode, "compare", "-n", "6", "--format=markdown", "--", "./work", "1", "0", "---", "./work", "1")
    rows = [line for line in alike.stdout.splitlines() if line.startswith("|")]
    case("Markdown", (alike.returncode != 0 or rows[0] != "| A | B | change | between | what |" or
                      not all(row.count("|") == 6 for row in rows)) and alike.stdout)
    failed = run(lode, "compare", "-n", "2", "-o", "out", "--", "./work", "1", "---", "./work", "1", "3")
    case("a command that fails", (failed.returncode != 1 or "run 1 of ./work 1 3 ended with status 3" not in
                                  failed.stderr or "odd words" not in failed.stderr or os.path.exists("out")) and (failed.returncode, failed.stderr))
    ignored = run(lode, "compare", "-n", "2", "--ignore-failure", "--format=csv", "--",
                  "./work", "1", "---", "./work", "1", "3")
    case("that is ignored", (ignored.returncode != 0 or not ignored.stdout.startswith("kind,name,")) and
         (ignored.returncode, ignored.stderr))
    for name, words in (("one command", ["./work", "1"]), ("no second command", ["./work", "1", "---"]),
                        ("no first command", ["---", "./work", "1"])):
        usage = run(lode, "compare", "--", *words)
        case(name, (usage.returncode != 2 or "takes two commands" not in usage.stderr) and usage.stderr)
    missing = run(lode, "compare", "--", "./none", "---", "./work", "1")
    case("a program that is missing", (missing.returncode != 1 or "./none" not in missing.stderr) and missing.stderr)

    print(f"1..{len(cases)}")
    for number, (name, fault) in enumerate(cases, 1):
        print(f"{'not ' if fault else ''}ok {number} - {name}")
        if fault:
            print("# " + str(fault)[:1500].replace("\n", "\n# "))


main()
