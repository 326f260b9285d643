#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which facts tell a program with a cost from the same program without it.

  bench/facts.py PAIRS [LODE [KIND…]]     LODE is build/src/cli/lode unless given

PAIRS is a directory of KIND.before.c and KIND.after.c (or .cc, .js) and fixes.tsv, whose first columns
are KIND and the saving in percent. Each program is built (gcc or g++ -O2 -g -pthread), recorded by
'lode run --windows 10%', and its facts are read from 'lode info'. Prints, for each pair, the saving
on this machine (least processor time of three runs in turn), and the facts whose share of the time
differs most: before, after, in percent of the weight.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

PAIRS = pathlib.Path(sys.argv[1]).resolve()
LODE = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build/src/cli/lode").resolve()
KINDS = sys.argv[3:]
ROUNDS = 3
SHOWN = 5
LEAST_DIFFERENCE = 5  # points
SIDES = ("before", "after")


def build(kind, side, directory):
    for suffix, compiler in ((".c", "gcc"), (".cc", "g++")):
        source = PAIRS / f"{kind}.{side}{suffix}"
        if source.exists():
            program = directory / f"{kind}.{side}"
            subprocess.run([compiler, "-O2", "-g", "-pthread", "-o", program, source, "-lm"], check=True)
            return [str(program)]
    return ["node", str(PAIRS / f"{kind}.{side}.js")]


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def facts_of(command, profile):
    subprocess.run([LODE, "run", "--windows", "10%", "-o", profile, "--", *command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    info = json.loads(subprocess.run([LODE, "info", "--format", "json", profile],
                                     check=True, stdout=subprocess.PIPE).stdout)
    return {row["name"]: 100 * (row["share"] or 0) for row in info["facts"]}


def main():
    rows = [line.split("\t") for line in (PAIRS / "fixes.tsv").read_text().splitlines()[1:]]
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        for kind, saving in ((row[0], row[1]) for row in rows):
            if KINDS and kind not in KINDS:
                continue
            commands = {side: build(kind, side, directory) for side in SIDES}
            times = {side: [] for side in SIDES}
            for _ in range(ROUNDS):
                for side in SIDES:
                    times[side].append(processor_time(commands[side]))
            facts = {side: facts_of(commands[side], directory / f"{side}.lode") for side in SIDES}
            now = 100 * (1 - min(times["after"]) / min(times["before"]))
            shares = [(facts["before"].get(name, 0), facts["after"].get(name, 0), name)
                      for name in {**facts["before"], **facts["after"]}]
            shares = [share for share in shares if abs(share[0] - share[1]) >= LEAST_DIFFERENCE]
            shares.sort(key=lambda share: (-abs(share[0] - share[1]), share[2]))
            told = ", ".join(f"{name} {before:.0f} -> {after:.0f}" for before, after, name in shares[:SHOWN])
            print(f"{kind:18} saves {now:4.0f} % ({saving} given)  {told or 'no fact differs'}", flush=True)


if __name__ == "__main__":
    main()
