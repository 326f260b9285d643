#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What diagnoses say of programs with a known cost, against what the same program saves without it.

    diagnoses.py LODE [OPTION…] DIRECTORY|DIRECTORY/PAIR|KIND[:SEED[:SHARE]]… [-- OPTION OF lode run…]

A directory has PAIR.before.* and PAIR.after.* (.c, .cc, .js; built by gcc or g++ -O2 -g -pthread) and
fixes.tsv, whose columns are the pair, the saving, the cause, and the causes that count as right; "-"
where there is nothing to be found. KIND is a twin of tests/twins/twins.py, made now (seed 1, 30 %).

    --runs N     runs of each program, in turn, whose least processor time counts (5); more where they differ
    --no-after   the program without the cost is measured, but not recorded
    --given      nothing is measured: the saving is that of fixes.tsv, and only the program with the cost is recorded
    --built DIR  its programs, DIR/PAIR.before and DIR/PAIR.after, which bench/fixes/build.sh makes, are run
    --keep DIR   recordings are left there, and those that are there are read again: other rules, the same samples
    --twice      each program is recorded twice: the first three must be the same (names: cause, scope), in any order
    --json FILE  the figures, one object a line

For each pair: what the fix saves (user and kernel time), the place of the first right cause among the
diagnoses, its time, and what it says to save; whether the saving is within, and the score of the
interval, its width + 10 × the distance of the saving from it, beside that of [0, time] (Gneiting and
Raftery 2007, for 8 of 10). A low end that is not known is 0. "over" is how far time lies above the
saving, in points. Then the other diagnoses among the first three, and whether the cause is left in the
program without it: among its first three, with more than a third of its former share.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TWINS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "twins" / "twins.py"
FIRST = 3
SIDES = ("before", "after")
SUFFIXES = {".c": "gcc", ".cc": "g++", ".cpp": "g++"}


def read_rows(directory):
    """Pair → saving as given, and causes that count as right."""
    rows = [line.split("\t") for line in (directory / "fixes.tsv").read_text().splitlines()[1:]]
    return {row[0]: (row[1], row[3].split()) for row in rows}


def pairs_of(words, scratch):
    """(directory, pair) for each word, which is a directory, a pair of one, or a kind of twin."""
    for word in words:
        path = pathlib.Path(word)
        if path.is_dir():
            yield from ((path, pair) for pair in read_rows(path))
        elif path.parent != pathlib.Path(".") and path.parent.is_dir():
            yield path.parent, path.name
        else:
            given = word.split(":")
            kind, seed, share = given + ["1", "30"][len(given) - 1 :]
            made = scratch / word.replace(":", "-")
            subprocess.run([sys.executable, TWINS, kind, seed, share, made], check=True, stdout=subprocess.DEVNULL)
            yield from ((made, pair) for pair in (read_rows(made) if made.exists() else ()))


def build(directory, pair, side, scratch, built):
    """The command that runs the program; None where there is no such side."""
    if built and (built / f"{pair}.{side}").exists():
        return [str(built / f"{pair}.{side}")]
    for source in directory.glob(f"{pair}.{side}.*"):
        if source.suffix == ".js":
            return ["/usr/bin/env", "node", str(source)]
        if source.suffix in SUFFIXES:
            program = scratch / f"{pair}.{side}"
            if not program.exists():
                subprocess.run([SUFFIXES[source.suffix], "-O2", "-g", "-pthread", "-w", "-o", program, source, "-lm"],
                               check=True)
            return [str(program)]
    return None


def processor_time(command):
    """Of the process and its children, user and kernel."""
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=nothing)
    usage = os.wait4(pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def measure(commands, runs):
    """The least time of each. They take turns, as the machine's load changes, until the two least of each
    are within 2 %, or for four times as many runs."""
    times = [[] for _ in commands]
    for done in range(1, 4 * runs + 1):
        for command, own in zip(commands, times):
            own.append(processor_time(command))
            own.sort()
        if done >= runs and all(own[min(1, done - 1)] <= 1.02 * own[0] for own in times):
            break
    return [own[0] for own in times]


def diagnose(lode, options, command, profile):
    """The diagnoses of one recording, in their order."""
    if not pathlib.Path(profile).exists():
        record(lode, options, command, profile)
    report = subprocess.run([lode, "report", "--format", "json", profile], stdout=subprocess.PIPE, check=True)
    return json.loads(report.stdout)["diagnoses"]


def record(lode, options, command, profile):
    recorded = subprocess.run([lode, "run", *options, "-o", profile, "--", *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if not pathlib.Path(profile).exists():
        sys.exit(f"lode run: {recorded.stderr}")


def interval_score(low, high, value):
    return high - low + 10 * max(0, low - value, value - high)


def percent(share):
    return "   –" if share is None else f"{100 * share:4.0f}"


def told(diagnoses):
    return ", ".join(f"{one['cause']} {100 * one['time']:.0f}" for one in diagnoses) or "none"


class Judge:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.rows = []

    def diagnoses(self, command, name):
        return diagnose(self.options.lode, self.options.run, command, str((self.options.keep or self.scratch) / f"{name}.lode"))

    def judge(self, directory, pair):
        given, right = read_rows(directory)[pair]
        commands = [command for side in SIDES if (command := build(directory, pair, side, self.scratch, self.options.built))]
        if not commands:
            print(f"{pair:24} not built", flush=True)
            return
        row = {"pair": pair, "right": right, "given": given, "place": None, "saving": None}
        if self.options.given:
            row["saving"] = float(given) / 100 if given.strip("-") else None
        elif len(commands) == 2:
            before, after = measure(commands, self.options.runs)
            row["saving"] = 1 - after / before
        found = self.diagnoses(commands[0], f"{pair}.before")
        row["found"] = found
        if self.options.twice:
            again = self.diagnoses(commands[0], f"{pair}.again")
            row["same"] = {one["name"] for one in found[:FIRST]} == {one["name"] for one in again[:FIRST]}
            row["again"] = again
        places = [i for i, one in enumerate(found) if one["cause"] in right]
        if places:
            one = found[places[0]]
            low, high = one["saves"]["low"], one["saves"]["high"]
            row.update(place=places[0] + 1, cause=one["cause"], time=one["time"], low=low, high=high)
            if row["saving"] is not None:
                row.update(within=(low or 0) <= row["saving"] <= high,
                           score=interval_score(low or 0, high, row["saving"]),
                           score_of_time=interval_score(0, one["time"], row["saving"]),
                           over=one["time"] - row["saving"])
        if len(commands) == 2 and not (self.options.no_after or self.options.given) and right != ["-"]:
            left = self.diagnoses(commands[1], f"{pair}.after")
            former = row.get("time", max((one["time"] for one in found if one["cause"] in right), default=0))
            row["left"] = any(one["cause"] in right and one["time"] > former / 3 for one in left[:FIRST])
            row["after"] = left
        self.rows.append(row)
        self.print_row(row)
        if self.options.json:
            with open(self.options.json, "a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")

    def print_row(self, row):
        others = [one for one in row["found"][:FIRST] if one["cause"] != row.get("cause")]
        saves = f"{percent(row.get('low'))} –{percent(row.get('high'))}"
        score = f"{100 * row['score']:5.0f} {100 * row['score_of_time']:5.0f}" if "score" in row else f"{'–':>5} {'–':>5}"
        is_within = {True: "yes", False: "no", None: "–"}[row.get("within")]
        left = {True: "LEFT", False: "gone", None: "–"}[row.get("left")]
        print(f"{row['pair']:24} {percent(row['saving'])}  {row['place'] or '–':>2} {percent(row.get('time'))}  {saves} "
              f"{is_within:>4} {score}  {left:4}  {' '.join(row['right'])}: {row.get('cause', 'not found')}; also {told(others)}"
              + (f"; after: {told(row['after'][:FIRST])}" if row.get("left") else "")
              + ("" if row.get("same", True) else f"; AGAIN: {told(row['again'][:FIRST])}"), flush=True)

    def print_sums(self):
        costly = [row for row in self.rows if row["right"] != ["-"]]
        plain = [row for row in self.rows if row["right"] == ["-"]]
        placed = [row["place"] for row in costly if row["place"]]
        scored = [row for row in costly if "score" in row]
        bounded = [row for row in scored if row["low"] is not None]
        judged_after = [row for row in costly if "left" in row]
        judged_twice = [row for row in self.rows if "same" in row]
        print(f"right cause: first {sum(place == 1 for place in placed)}, among two {sum(place <= 2 for place in placed)}, "
              f"among three {sum(place <= 3 for place in placed)}, at all {len(placed)}, of {len(costly)}")
        wrong = sum(bool(row["found"]) and row["found"][0]["cause"] not in row["right"] for row in costly)
        print(f"first diagnosis is of another cause: {wrong} of {len(costly)}")
        print(f"saving within: {sum(row['within'] for row in scored)} of {len(scored)}; "
              f"where a low end is given {sum(row['within'] for row in bounded)} of {len(bounded)}")
        print(f"score better than [0, time]: {sum(row['score'] < row['score_of_time'] for row in scored)}, level "
              f"{sum(row['score'] == row['score_of_time'] for row in scored)}, of {len(scored)}; means "
              + (f"{100 * sum(row['score'] for row in scored) / len(scored):.0f} and "
                 f"{100 * sum(row['score_of_time'] for row in scored) / len(scored):.0f}" if scored else "–"))
        print(f"time over-stated by more than 3 points: {sum(row['over'] > 0.03 for row in scored)} of {len(scored)}")
        print(f"cause left in the program without it: {sum(row['left'] for row in judged_after)} of {len(judged_after)}")
        if plain:
            print(f"diagnoses where there is no cost: {sum(bool(row['found']) for row in plain)} of {len(plain)} programs")
        if judged_twice:
            print(f"the same first three in two recordings: {sum(row['same'] for row in judged_twice)} of {len(judged_twice)}")


def main():
    words = sys.argv[1:]
    run = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("lode")
    parser.add_argument("what", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-after", action="store_true")
    parser.add_argument("--given", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--built", type=pathlib.Path)
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args(words[:words.index("--")] if "--" in words else words)
    options.run = run
    options.lode = os.path.realpath(options.lode)
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        judge = Judge(options, scratch)
        print(f"{'':24} {'':4}  {'diagnosis':>8}\n{'pair':24} {'fix':>4}  {'at':>2} {'time':>4}  {'saves':>10} {'in':>4} "
              f"{'score':>5} {'[0,t]':>5}  after", flush=True)
        for pair in pairs_of(options.what, scratch):
            judge.judge(*pair)
        judge.print_sums()


if __name__ == "__main__":
    main()
