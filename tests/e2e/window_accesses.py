#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data addresses of windows, of a program whose accesses are known, by gcc at -O2 and clang at -O0; with
LODE_LONG_TESTS in the environment by each at both.

  tests/e2e/window_accesses.py LODE SOURCE      SOURCE: known_walks.c

Strides, lines, pages and bytes of a line are exact; shares of objects are those of executions,
within five standard errors. Prints TAP; skips where nothing can be sampled.
"""
import contextlib
import csv
import io
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
MILLISECONDS = 3000
LEAST_SHARED, LEAST_ACCESSES, LEAST_DIFFERENT = 50, 1000, 100
BUILDS = [("gcc", "-O2"), ("clang", "-O0")]
if "LODE_LONG_TESTS" in os.environ:
    BUILDS += [("gcc", "-O0"), ("clang", "-O2")]
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


def rows_of(profile, *options):
    return list(csv.DictReader(io.StringIO(run(LODE, "memory", profile, "--format", "csv", "--top", "0", *options))))


class Facts:
    """The facts of the loads of one object in one function, and their number."""

    def __init__(self, base, function, object_name):
        base.row_factory = sqlite3.Row
        self.windows = base.execute("SELECT windows FROM window_recording").fetchone()[0]
        self.rows = base.execute(
            "SELECT * FROM window_instruction WHERE instruction IN (SELECT access_instruction FROM "
            "memory_sample s JOIN event e ON e.id = s.event JOIN data_object o ON o.id = s.object "
            "JOIN function f ON f.id = s.access_function WHERE e.name = 'window-accesses' AND "
            "f.name = ? AND (o.variable = ? OR o.name = ?) AND s.access = 'load')",
            (function, object_name, object_name),
        ).fetchall()
        self.faults = [] if len(self.rows) == 1 else [f"{len(self.rows)} loads of {object_name} in {function}, not 1"]

    def is_so(self, name, is_so):
        for row in self.rows:
            if not is_so(row):
                self.faults.append(f"{name}: " + ", ".join(f"{key} {row[key]}" for key in row.keys()[2:]))
        return self


def facts_of(base):
    # the first access after each window's begin has none before it
    def strides(facts, stride, wraps):
        return facts.is_so("stride", lambda row: row["stride"] == stride).is_so(
            "strided",
            lambda row: row["accesses"] - row["strided"] - row["repeated"]
            <= facts.windows + row["accesses"] / wraps + 8,
        )

    lines = strides(Facts(base, "walk_lines", "by_line"), 64, 512 / 3)
    lines.is_so("bytes", lambda row: int(row["line_bytes"]) == 1)
    lines.is_so("no conflict", lambda row: row["conflicting"] == 0)
    lines.is_so("lines", lambda row: row["accesses"] < 2000 or 512 * 0.35 < row["lines"] < 512 * 1.65)
    pages = strides(Facts(base, "walk_pages", "by_page"), -4096, 64 / 3)
    pages.is_so("pages", lambda row: row["pages"] == row["lines"] and (row["pages"] == 64 or row["accesses"] < 1000))
    chase = Facts(base, "walk_list", "struct node.next")
    chase.is_so("bytes", lambda row: int(row["line_bytes"]) == 0xFF00)
    chase.is_so("lines", lambda row: row["lines"] == 64 or row["accesses"] < 1000)
    chase.is_so("no split", lambda row: row["split"] == 0)
    random = Facts(base, "walk_random", "anywhere")
    # of 16,384 lines as many as so many draws hit
    random.is_so(
        "lines",
        lambda row: 0.35 < row["lines"] / (16384 * (1 - (1 - 1 / 16384) ** row["accesses"])) < 1.65,
    )
    random.is_so("no stride", lambda row: row["strided"] <= row["accesses"] * 0.05 + 8)
    split = Facts(base, "walk_split", "split_line")
    split.is_so("split", lambda row: row["split"] == row["accesses"] and row["lines"] == 2)
    split.is_so("the same", lambda row: row["accesses"] - row["repeated"] <= split.windows + 8)
    conflict = strides(Facts(base, "walk_set", "by_set"), 4096, 20 / 3)
    # each but those that are the first twenty of their window
    conflict.is_so(
        "conflict", lambda row: row["accesses"] - row["conflicting"] <= 20 * (conflict.windows + 8)
        and (row["conflicting"] > 0 or row["accesses"] < 1000),
    )
    halves = Facts(base, "walk_halves", "word")
    halves.is_so("part-stored", lambda row: row["accesses"] - row["part_stored"] <= halves.windows + 8)
    halves.is_so("near", lambda row: row["stored"] == 0 and 1 <= row["store_steps"] <= 20)
    return [("lines", lines), ("pages", pages), ("list", chase), ("random", random), ("split", split),
            ("one set", conflict), ("halves", halves)]


def shares(profile, base):
    # one load of both arrays has at most 64 samples; a load of each is counted whole
    loads = base.execute(
        "SELECT count(DISTINCT access_instruction) FROM memory_sample s JOIN data_object o ON o.id = s.object "
        "JOIN function f ON f.id = s.access_function WHERE f.name = 'walk_mixed' AND rule = 'window' "
        "AND o.variable IN ('heads', 'tails')"
    ).fetchone()[0]
    rows = rows_of(profile, "--by", "object", "--event", "window-accesses", "--loads", "--where", "function == 'walk_mixed'")
    rows = {row["object"]: row for row in rows if row["object"] in ("int heads[]", "int tails[]")}
    weights = {name: float(row["weight"]) for name, row in rows.items()}
    n = sum(int(row["samples"]) for row in rows.values()) if loads == 1 else sum(weights.values())
    if len(rows) != 2 or n < LEAST_SHARED:
        return [f"only {n} accesses to heads and tails: {weights}"]
    error = abs(weights["int heads[]"] / sum(weights.values()) - 0.7)
    # Those of one window are not independent: twice the variance.
    return [] if error <= 5 * math.sqrt(2 * 0.21 / n) else [f"{weights}: not 70 : 30"]


def whole(profile, base):
    """Weights are accesses, and nearly all lie in memory that is known."""
    total = base.execute("SELECT total FROM event WHERE name = 'window-accesses'").fetchone()[0]
    rows = rows_of(profile, "--by", "mapping", "--event", "window-accesses")
    weight = sum(float(row["weight"]) for row in rows)
    unknown = sum(float(row["weight"]) for row in rows if row["mapping"] in ("", "[unknown]"))
    faults = []
    if abs(weight - total) > 1e-6 * total or total < LEAST_ACCESSES:
        faults.append(f"weights {weight}, event {total}")
    if unknown > 0.01 * total:
        faults.append(f"{unknown} of {total} in unknown memory")
    return faults


def record_until(is_enough, verb, profile, share, milliseconds):
    """How many windows the budget allows depends on what a step costs, which a load multiplies."""
    for factor in (1, 2, 4, 8):
        recorded = profile if verb == ["memory", "record"] else "recording"
        run(LODE, *verb, "--windows", share, "-o", recorded, "--", "./walks", str(factor * milliseconds))
        if recorded != profile:
            run(LODE, "import", recorded, "-o", profile)
        with contextlib.closing(sqlite3.connect(profile)) as base:
            if is_enough(base):
                return


def n_accesses(base):
    found = base.execute("SELECT total FROM event WHERE name = 'window-accesses'").fetchone()
    return found[0] if found else 0


def n_shared(base):
    return base.execute(
        "SELECT count(*) FROM memory_sample s JOIN data_object o ON o.id = s.object JOIN function f ON "
        "f.id = s.access_function WHERE f.name = 'walk_mixed' AND rule = 'window' AND access = 'load' "
        "AND o.variable IN ('heads', 'tails')").fetchone()[0]


def accesses_of_walks(base, rule):
    same = ("walk_lines", "walk_pages", "walk_set", "walk_split", "walk_list", "walk_halves")
    return set(base.execute(
        "SELECT DISTINCT f.name, access_pc, s.address, s.size, access FROM memory_sample s JOIN function f "
        f"ON f.id = s.access_function WHERE rule = ? AND s.address < 1 << 28 AND f.name IN {same}", (rule,)))


def check_build(compiler, level):
    name = f"{compiler} {level}"
    run(compiler, "-g", level, "-o", "walks", SOURCE)
    record_until(lambda base: n_accesses(base) >= LEAST_ACCESSES and n_shared(base) >= LEAST_SHARED,
                 ["record"], "walks.lode", "50%", MILLISECONDS)
    with contextlib.closing(sqlite3.connect("walks.lode")) as base:
        for what, facts in facts_of(base):
            check(f"{name}: {what}", facts.faults)
        check(f"{name}: shares of two arrays", shares("walks.lode", base))
        check(f"{name}: all accesses", whole("walks.lode", base))
    code = run(LODE, "annotate", "walks.lode", "function", "walk_lines")
    says = " accesses in windows" in code and "memory" not in code
    check(f"{name}: beside the code", [] if says else code.splitlines()[:12])
    faults = []
    with contextlib.closing(sqlite3.connect("walks.lode")) as base:
        if base.execute("SELECT count(*) FROM attribute WHERE name LIKE 'obj:%'").fetchone()[0] > 0:
            faults.append("instructions have attributes of their data, as those without windows have not")
    if "window_accesses" in run(LODE, "export", "walks.lode", "--format", "callgrind", "-o", "-"):
        faults.append("an event without costs is exported")
    weights = run(LODE, "report", "walks.lode", "--format", "json").partition('"sampled_events"')[2].partition("]")[0]
    if "window-accesses" in weights:
        faults.append("it is offered as a weight")
    check(f"{name}: no weight", faults)


def check_traced():
    """Each access to a global in a walk that repeats itself is one that an address trace has, too."""
    run("gcc", "-g", "-O2", "-no-pie", "-o", "walks", SOURCE)
    record_until(lambda base: len(accesses_of_walks(base, "window")) >= LEAST_DIFFERENT,
                 ["record"], "walks.lode", "50%", 1000)
    run(LODE, "trace", "record", "-o", "walks.rps", "--", "./walks", "0")
    run(LODE, "import", "walks.rps", "-o", "traced.lode")
    accesses = {}
    for profile, rule in (("walks.lode", "window"), ("traced.lode", "traced")):
        with contextlib.closing(sqlite3.connect(profile)) as base:
            accesses[rule] = accesses_of_walks(base, rule)
    wrong = accesses["window"] - accesses["traced"]
    faults = [f"not in the trace: {access}" for access in sorted(wrong)[:5]]
    if len(accesses["window"]) < LEAST_DIFFERENT:
        faults.append(f"only {len(accesses['window'])} different accesses")
    check("as an address trace has them", faults)


def check_apart():
    """Beside samples of time they are not in any view but that of their own event."""
    record_until(n_accesses, ["memory", "record"], "both.lode", "10%", 600)
    rows = rows_of("both.lode", "--by", "rule")
    by_event = {row["event"]: row for row in rows_of("both.lode", "--by", "event")}
    faults = []
    if any(row["rule"] == "window" for row in rows):
        faults.append(f"windows among the samples of time: {rows}")
    if "window-accesses" not in by_event or len(by_event) < 2:
        faults.append(f"events: {list(by_event)}")
    if "window-accesses" not in run(LODE, "memory", "both.lode", "--by", "object"):
        faults.append("the view by object does not say what is left out")
    check("beside samples of time", faults)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ.update(LC_ALL="C.UTF-8", HOME=work, DEBUGINFOD_URLS="")
        tried = subprocess.run([LODE, "record", "--windows", "3%", "-o", "trial", "--", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            print("1..0 # SKIP", tried.stderr.strip().replace("\n", " "))
            return
        builds = [build for build in BUILDS if shutil.which(build[0])]
        if not builds:
            print("1..0 # SKIP there is no compiler")
            return
        for compiler, level in builds:
            check_build(compiler, level)
        if shutil.which("gcc") and shutil.which("qemu-x86_64"):
            check_traced()
        check_apart()
        print(f"1..{number}")


main()
