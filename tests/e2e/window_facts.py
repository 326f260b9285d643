#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Facts of windows, of a program whose facts are known, by gcc at -O2 and clang at -O0; with LODE_LONG_TESTS in the
environment by each at both.

  tests/e2e/window_facts.py LODE SOURCE      SOURCE: known_facts.c

Denormal numbers, accesses across pages and repeated calls are exact, but for what each window cuts
off; others are within five standard errors. Prints TAP; skips where nothing can be sampled.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
MILLISECONDS = 3000
BUILDS = [("gcc", "-O2"), ("clang", "-O0")]
if "LODE_LONG_TESTS" in os.environ:
    BUILDS += [("gcc", "-O0"), ("clang", "-O2")]
COLUMNS = "steps outcomes unforetold denormals accesses repeated split".split()
FACTS = (
    "underflows split_pages compared_calls same_arguments compared_results same_results loop_rounds loop_exits "
    "string_runs string_rounds"
).split()
number = 0


def check(name, faults):
    global number
    number += 1
    print(("not ok" if faults else "ok"), number, "-", name)
    for fault in faults:
        print("#", fault)
    sys.stdout.flush()


def run(*words):
    ran = subprocess.run(words, capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {ran.stderr.strip()}")
    return ran.stdout


class Facts:
    def __init__(self, path):
        self.base = sqlite3.connect(path)
        row = self.base.execute("SELECT windows FROM window_recording").fetchone()
        self.windows = row[0] if row is not None else 0
        self.faults = []

    def rows(self, function):
        """The facts of each instruction of a function, by its id."""
        of_function = "instruction IN (SELECT instruction FROM instruction_place WHERE function_name = ?)"
        rows = {
            row[0]: dict(zip(COLUMNS + FACTS, row[1:] + (0,) * len(FACTS)))
            for row in self.base.execute(
                f"SELECT instruction, {', '.join(COLUMNS)} FROM window_instruction WHERE {of_function}", (function,)
            )
        }
        for instruction, fact, n in self.base.execute(
            f"SELECT instruction, fact, n FROM window_fact WHERE {of_function}", (function,)
        ):
            rows[instruction][fact] = n
        return rows

    def most(self, function, fact):
        """The facts of the instruction of a function with the most of a kind."""
        rows = self.rows(function).values()
        return max(rows, key=lambda row: row[fact], default=dict.fromkeys(COLUMNS + FACTS, 0))

    def attributes(self, function):
        return {
            row[0]
            for row in self.base.execute(
                "SELECT DISTINCT a.name FROM instruction_attribute a JOIN instruction_place p ON "
                "p.instruction = a.instruction WHERE p.function_name = ?",
                (function,),
            )
        }

    def expect(self, is_so, text):
        if not is_so:
            self.faults.append(text)


def share_is(facts, function, part, whole, share, slack):
    """Windows cut periods: so each may have `slack` more or less."""
    row = facts.most(function, part)
    error = slack * facts.windows**0.5 if slack > 1 else slack * facts.windows + 2
    facts.expect(
        row[part] > 0 and abs(row[part] - share * row[whole]) <= error,
        f"{function}: {part} {row[part]} of {row[whole]}, not {share:.4f}",
    )
    return row


def denormals(facts):
    share_is(facts, "denormal_operand", "denormals", "steps", 1 / 4, 1)
    share_is(facts, "denormal_result", "underflows", "steps", 1 / 4, 1)
    share_is(facts, "denormal_x87", "underflows", "steps", 1 / 4, 1)
    for function, fact in (("denormal_operand", "denormals"), ("denormal_result", "underflows"), ("denormal_x87", "underflows")):
        n = sum(row[fact] > 0 for row in facts.rows(function).values())
        facts.expect(n == 1, f"{function}: {n} instructions have {fact}")
    for function in ("split_lines", "same_call", "fork_random"):
        n = sum(row["denormals"] + row["underflows"] for row in facts.rows(function).values())
        facts.expect(n == 0, f"{function}: {n} denormal numbers")
    facts.expect("denormal:operand" in facts.attributes("denormal_operand"), "no denormal:operand")
    facts.expect("denormal:result" in facts.attributes("denormal_x87"), "no denormal:result")
    facts.expect(not any(name.startswith("denormal:") for name in facts.attributes("fork_turns")), "denormal:… in fork_turns")


def splits(facts):
    share_is(facts, "split_lines", "split", "accesses", 7 / 64, 5 * 4)
    row = share_is(facts, "split_pages", "split_pages", "accesses", 1 / 2, 1)
    facts.expect(row["split"] == row["split_pages"], f"split_pages: split {row['split']}, pages {row['split_pages']}")
    if row["accesses"] >= 30:
        facts.expect("split:page" in facts.attributes("split_pages"), "no split:page")
    facts.expect("split:page" not in facts.attributes("fork_turns"), "split:page in fork_turns")


def calls(facts):
    same = facts.most("same_call", "compared_calls")
    other = facts.most("other_call", "compared_calls")
    argument = facts.most("same_argument", "compared_calls")
    for name, row in (("same_call", same), ("other_call", other), ("same_argument", argument)):
        facts.expect(row["compared_calls"] > 0 or row["steps"] < 100, f"{name}: none of {row['steps']} calls compared")
    facts.expect(same["same_arguments"] == same["compared_calls"], f"same_call: {same}")
    facts.expect(same["same_results"] == same["compared_results"], f"same_call: {same}")
    facts.expect(other["same_arguments"] == 0, f"other_call: {other}")
    facts.expect(argument["same_arguments"] == argument["compared_calls"], f"same_argument: {argument}")
    facts.expect(argument["same_results"] == 0, f"same_argument: {argument}")
    if same["compared_results"] >= 20:
        facts.expect("repeats:result" in facts.attributes("same_call"), "same_call: no repeats:result")
    facts.expect("repeats:result" not in facts.attributes("same_argument"), "same_argument: repeats:result")
    facts.expect("repeats:arguments" not in facts.attributes("other_call"), "other_call: repeats:arguments")


def forks(facts):
    both = {}
    for source, n, passed in facts.base.execute(
        "SELECT e.source, sum(e.steps), max(e.steps) FROM window_edge e JOIN instruction_attribute a ON "
        "a.instruction = e.source WHERE a.name = 'kind:branch' GROUP BY e.source"
    ):
        both[source] = (n, passed)
    for function in ("fork_turns", "fork_random", "fork_tenth", "fork_period", "fork_rare"):
        rows = facts.rows(function)
        ways = [both[it] for it in rows if it in both]
        is_fork = any(n >= 30 and most <= 0.9 * n for n, most in ways)
        is_known = all(n >= 30 for n, _ in ways) and ways
        if is_known:
            facts.expect(
                ("after:fork" in facts.attributes(function)) == is_fork,
                f"{function}: after:fork is {not is_fork}, ways {ways}",
            )
        if function != "fork_rare" and is_known and min(n for n, _ in ways) >= 300:
            facts.expect(is_fork, f"{function}: no fork, ways {ways}")
    turns, random = (facts.most(name, "outcomes") for name in ("fork_turns", "fork_random"))
    if turns["outcomes"] >= 600:
        facts.expect(turns["unforetold"] * 100 <= turns["outcomes"], f"fork_turns: {turns}")
    row = facts.most("fork_random", "unforetold")
    if row["outcomes"] >= 600:
        facts.expect(0.35 < row["unforetold"] / row["outcomes"] < 0.65, f"fork_random: {row}")
        facts.expect("outcomes:hard" in facts.attributes("fork_random"), "fork_random: no outcomes:hard")
    row = facts.most("fork_tenth", "unforetold")
    if row["outcomes"] >= 600:
        facts.expect(0.08 < row["unforetold"] / row["outcomes"] < 0.25, f"fork_tenth: {row}")
    facts.expect("outcomes:hard" not in facts.attributes("fork_rare"), "fork_rare: outcomes:hard")


def rounds(facts):
    row = facts.most("five_rounds", "loop_exits")
    # Where the loop's test comes first, its head is executed once more.
    n = 5 if abs(row["loop_rounds"] - 5 * row["loop_exits"]) < abs(row["loop_rounds"] - 6 * row["loop_exits"]) else 6
    share_is(facts, "five_rounds", "loop_exits", "loop_rounds", 1 / n, 1)
    for function, width, least, most, value in (
        ("string_few", 1, 4, 48, "few"),
        ("string_many", 1, 4096, 65536, "many"),
        ("string_constant", 8, 16, 64, "few"),
    ):
        row = facts.most(function, "string_runs")
        if row["string_runs"] < 10:
            continue
        mean = width * row["string_rounds"] / row["string_runs"]
        # In few windows that begin in the midst of a long one, less may be left.
        if value == "few" or row["string_runs"] >= 100:
            facts.expect(least <= mean <= most, f"{function}: {mean:.1f} bytes, {row}")
            facts.expect(f"rounds:{value}" in facts.attributes(function), f"{function}: no rounds:{value}")
        if value == "many":
            facts.expect("rounds:few" not in facts.attributes(function), f"{function}: rounds:few, {row}")


def counted(facts):
    """By the code and exact executions."""
    facts.expect("rounds:few" in facts.attributes("string_constant"), "string_constant: no rounds:few")
    # The windows of the sampled run may have seen that of string_few.
    facts.expect("rounds:few" not in facts.attributes("string_many"), "string_many: rounds:few")
    for function, is_so in (("same_call", True), ("same_argument", True), ("other_call", False), ("filled_call", False)):
        facts.expect(
            ("repeats:unchanged" in facts.attributes(function)) == is_so,
            f"{function}: repeats:unchanged is {not is_so}",
        )
    for function in ("fork_turns", "fork_random", "fork_tenth", "fork_period", "fork_rare"):
        is_so = function != "fork_rare"
        facts.expect(("after:fork" in facts.attributes(function)) == is_so, f"{function}: after:fork is {not is_so}")


LOOKS = {"denormals": denormals, "splits": splits, "calls": calls, "forks": forks, "rounds": rounds}


def faults_of(profile, look):
    facts = Facts(profile)
    look(facts)
    return facts.faults


def try_build(directory, compiler, level):
    program, profile = os.path.join(directory, f"{compiler}{level}"), os.path.join(directory, f"{compiler}{level}.lode")
    run(compiler, level, "-g", "-o", program, SOURCE)
    # In a short run on a busy machine there may be too few windows to see each fact.
    for factor in (1, 2, 4):
        run(LODE, "run", "--windows", "50%", "-o", profile, "--", program, str(factor * MILLISECONDS))
        faults = {name: faults_of(profile, look) for name, look in LOOKS.items()}
        if not any(faults.values()):
            break
    for name, its in faults.items():
        check(f"{compiler} {level}: {name}", its)
    if shutil.which("qemu-x86_64") is not None:
        exact = profile + ".counted"
        run(LODE, "run", "--count", "-o", exact, "--", program, "500")
        facts = Facts(exact)
        counted(facts)
        check(f"{compiler} {level}: counted", facts.faults)
    return Facts(profile).base.execute("SELECT windows, steps FROM window_recording").fetchone()


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.environ.update(LC_ALL="C.UTF-8", HOME=directory, DEBUGINFOD_URLS="")
        trial = os.path.join(directory, "trial")
        tried = subprocess.run([LODE, "record", "--windows", "3%", "-o", trial, "--", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            print("1..0 # SKIP", tried.stderr.strip().replace("\n", " "))
            return
        builds = [build for build in BUILDS if shutil.which(build[0])]
        if not builds:
            print("1..0 # SKIP there is no compiler")
            return
        for compiler, level in builds:
            print(f"# {compiler} {level}: %d windows, %d steps" % try_build(directory, compiler, level))
        print(f"1..{number}")


main()
