#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What 'lode diff' says first of real fixes, of equal programs, of other compilers and of other data.

    compare_fixes.py LODE DIRECTORY [KIND…]

DIRECTORY has KIND.before.* and KIND.after.* and fixes.tsv, as for diagnoses.py, which says how they are
built. Each program is recorded once by 'lode run', unless it is there already (--keep). Prints tables,
each row with the line that is first below the head, and whether it is right by the causes of fixes.tsv.

    --only LIST  of fixes, equal, compilers, data, separated by commas (all)
    --equal N    equal pairs, the second half of them recorded beside a busy program for each processor (10)
    --built DIR  the programs of DIR, DIR/KIND.before and DIR/KIND.after, are run
    --keep DIR   recordings are left there, and those that are there are read again
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from diagnoses import SUFFIXES, build, read_rows

KINDS = ("functions", "lines", "patterns", "places")
# Their loops are such that compilers make something of them.
COMPILED = ("accumulators", "strlen-in-loop", "store-forwarding")
LINES = 600_000


class Recorder:
    def __init__(self, options, scratch):
        self.lode, self.scratch = options.lode, scratch
        self.folder = options.keep or scratch

    def record(self, name, command, **environment):
        profile = self.folder / f"{name}.lode"
        if not profile.exists():
            subprocess.run([self.lode, "run", "-o", profile, "--report", "/dev/null", "--", *command], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
                           env={**os.environ, **environment})
        return profile

    def compare(self, base, other):
        out = subprocess.run([self.lode, "diff", base, other, "--format", "json"], check=True, capture_output=True, text=True)
        return json.loads(out.stdout)["comparisons"][0]


@contextlib.contextmanager
def busy_processors(are_busy):
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() if are_busy else 0)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:+.3g} ms".replace("-", "−")


def percents(low, high):
    return f"up to {100 * high:.0f}" if low is None else f"{100 * low:.0f}–{100 * high:.0f}"


def told(found):
    """What is listed, in the order of the text: (words, cause or None, promised and achieved or None)."""
    same = found["same_code"]
    words = [(f"{same['functions']:.0f} functions with the same code take {same['factor']:.2f} ×", None, None)] if same["is_told"] else []
    diagnoses = []
    for one in found["diagnoses"]:
        if not one["is_told"]:
            continue
        at = one["base"] if one["match"] == "gone" else one["new"]
        change = (one["match"] if one["match"] in ("gone", "new")
                  else f"{1000 * one['base']['seconds']:.3g} → {1000 * one['new']['seconds']:.3g} ms")
        where = f" in {at.get('short_function', at['function'])}" if at["function"] else ""
        saves = None
        if one["achieved"] is not None and one["promised"]["high"]:
            saves = f"{percents(**one['promised'])}, {100 * one['achieved']:.0f}"
        falls = one["change_seconds"] < 0
        diagnoses.append((f"{one['title']}{where} {change}", one["cause"] if falls else None, saves))
    rows = [(f"{row.get('short_text', row['text'])} {milliseconds(row['change'])}", None, None)
            for kind in KINDS for row in (found.get(kind) or {"rows": []})["rows"] if row["is_told"] and not row["is_repeated"]]
    return words + diagnoses + rows if same["is_most"] else diagnoses + words + rows


def seconds(found, side):
    return found[side]["user_seconds"] + found[side]["system_seconds"]


def times(found):
    before, after = seconds(found, "base"), seconds(found, "new")
    return f"{before:.2f} → {after:.2f} s, {100 * (after / before - 1):+.1f} %".replace("-", "−")


def others_share(profile):
    with contextlib.closing(sqlite3.connect(profile)) as database:
        row = database.execute("SELECT value FROM meta WHERE key = 'others_share'").fetchone()
    return float(row[0]) if row else 0


def row_of(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def first_words(lines):
    return lines[0][0] if lines else "no line"


def compare_fixes(recorder, options):
    print("\n| fix | processor time | first line | promised, achieved (%) | right | lines |\n|---|---|---|---|---|---|")
    n_right = n = 0
    for kind in options.kinds:
        right = read_rows(options.directory)[kind][1]
        commands = [build(options.directory, kind, side, recorder.scratch, options.built) for side in ("before", "after")]
        if None in commands:
            row_of(kind, "not built")
            continue
        before, after = (recorder.record(f"{kind}.{side}", command) for side, command in zip(("before", "after"), commands))
        found = recorder.compare(before, after)
        lines = told(found)
        is_right = bool(lines) and lines[0][1] in right
        place = next((i + 1 for i, line in enumerate(lines) if line[1] in right), None)
        n, n_right = n + 1, n_right + is_right
        row_of(kind, times(found), first_words(lines), (lines[0][2] if lines else None) or "",
               "yes" if is_right else f"line {place}" if place else "no", str(len(lines)))
    print(f"\nThe first line is right in {n_right} of {n}.")


def compare_equal(recorder, options):
    print("\n| recorded twice | processor time | others had | same code | false lines |\n|---|---|---|---|---|")
    n_false = 0
    for i in range(options.equal):
        kind = options.kinds[i % len(options.kinds)]
        is_busy = 2 * i >= options.equal
        command = build(options.directory, kind, "before", recorder.scratch, options.built)
        with busy_processors(is_busy):
            one, other = (recorder.record(f"{kind}.equal{i}.{run}", command) for run in (1, 2))
        found = recorder.compare(one, other)
        lines = told(found)
        n_false += bool(lines)
        factor = found["same_code"]["factor"]
        row_of(f"{kind}{', beside busy programs' if is_busy else ''}", times(found), f"{others_share(one):.2f}, {others_share(other):.2f}",
               f"{factor:.3f} ×" if factor else "–", "; ".join(line[0] for line in lines) or "none")
    print(f"\n{n_false} of {options.equal} equal pairs have a false line.")


def compile_as(source, out, compiler, level):
    if not shutil.which(compiler):
        return False
    subprocess.run([compiler, level, "-g", "-pthread", "-w", "-o", out, source, "-lm"], check=True)
    return True


def compare_compilers(recorder, options):
    print("\n| program | processor time | listed |\n|---|---|---|")
    for kind in COMPILED:
        source = next((one for one in options.directory.glob(f"{kind}.before.*") if one.suffix in SUFFIXES), None)
        for name, compiler, level in (("gcc -O2 against -O3", "gcc", "-O3"), ("gcc against clang, -O2", "clang", "-O2")):
            base, other = recorder.scratch / f"{kind}.gcc-O2", recorder.scratch / f"{kind}.{compiler}{level}"
            if source is None or not compile_as(source, base, "gcc", "-O2") or not compile_as(source, other, compiler, level):
                row_of(f"{kind}, {name}", "not built", "")
                continue
            found = recorder.compare(recorder.record(base.name, [base]), recorder.record(other.name, [other]))
            row_of(f"{kind}, {name}", times(found), "; ".join(line[0] for line in told(found)[:4]) or "no line")


def compare_data(recorder, options):
    print("\n| other data | processor time | first lines |\n|---|---|---|")
    numbers = list(range(LINES))
    random.Random(1).shuffle(numbers)
    shuffled, ordered = recorder.scratch / "shuffled", recorder.scratch / "ordered"
    shuffled.write_text("".join(f"{one:08d}\n" for one in numbers))
    ordered.write_text("".join(f"{one:08d}\n" for one in range(LINES)))
    sort = ["sort", "--parallel=1"]
    chase = build(options.directory, "list-to-array", "before", recorder.scratch, options.built)
    tlb = build(options.directory, "huge-pages", "before", recorder.scratch, options.built)
    huge = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    cases = [("sort of shuffled lines, of ordered lines", "order", (sort + [shuffled], {"LC_ALL": "C"}), (sort + [ordered], {"LC_ALL": "C"})),
             ("sort in the locale C, in C.utf8", "locale", (sort + [shuffled], {"LC_ALL": "C"}), (sort + [shuffled], {"LC_ALL": "C.utf8"})),
             ("gzip -6, gzip -1", "level", (["gzip", "-6", "-c", shuffled], {}), (["gzip", "-1", "-c", shuffled], {})),
             ("huge-pages.before, malloc with huge pages", "pages", (tlb, {}), (tlb, huge)),
             ("list-to-array.before, malloc with huge pages", "list-pages", (chase, {}), (chase, huge))]
    for words, name, (command, environment), (other, other_environment) in cases:
        if command is None or other is None or not shutil.which(command[0]):
            row_of(words, "not built", "")
            continue
        found = recorder.compare(recorder.record(f"{name}.1", command, **environment),
                                 recorder.record(f"{name}.2", other, **other_environment))
        kernel = f"{1000 * found['base']['system_seconds']:.0f} → {1000 * found['new']['system_seconds']:.0f} ms"
        row_of(words, f"{times(found)}; kernel {kernel}", "; ".join(line[0] for line in told(found)[:4]) or "no line")


PARTS = {"fixes": compare_fixes, "equal": compare_equal, "compilers": compare_compilers, "data": compare_data}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("lode", type=os.path.realpath)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--equal", type=int, default=10)
    parser.add_argument("--built", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    if unknown := set(options.only.split(",")) - set(PARTS):
        sys.exit(f"--only: not known: {', '.join(unknown)}")
    options.kinds = options.kinds or list(read_rows(options.directory))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        recorder = Recorder(options, pathlib.Path(directory))
        for part in options.only.split(","):
            PARTS[part](recorder, options)


main()
