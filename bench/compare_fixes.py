#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What 'lode diff' says of real fixes, and of programs that did not change.

  bench/compare_fixes.py PAIRS [LODE [KIND…]]     LODE is build/src/cli/lode unless given
  bench/compare_fixes.py --equal PAIRS [LODE [KIND…]]

PAIRS is a directory of KIND.before and KIND.after, built programs. Both are recorded by 'lode run' and
compared. Prints processor time in user code and in the kernel, the machine's speed as measured, the
functions with the same code, and the first rows of the table.

With --equal KIND.before is recorded twice, and twice more, the second time with one busy program for
each processor. Each row that is listed is false.
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ARGUMENTS = [word for word in sys.argv[1:] if word != "--equal"]
IS_EQUAL = "--equal" in sys.argv[1:]
PAIRS = pathlib.Path(ARGUMENTS[0]).resolve()
LODE = pathlib.Path(ARGUMENTS[1] if len(ARGUMENTS) > 1 else "build/src/cli/lode").resolve()
KINDS = ARGUMENTS[2:] or sorted(path.stem for path in PAIRS.glob("*.before"))
ROWS = 3


def record(program, profile):
    subprocess.run(
        [LODE, "run", "-o", profile, "--", program], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=300)


def record_busy(program, profile):
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        record(program, profile)
    finally:
        for other in others:
            other.kill()
            other.wait()


def facts(profile):
    with sqlite3.connect(profile) as database:
        return dict(database.execute("SELECT key, value FROM meta"))


def compare(base, other):
    text = subprocess.run(
        [LODE, "diff", base, other, "--format", "json"], check=True, capture_output=True, text=True).stdout
    found = json.loads(text)
    found = found["comparisons"][0]
    rows = []
    for kind in ("patterns", "places", "functions", "lines"):
        part = found.get(kind) or {"rows": []}
        rows += [(kind, row) for row in part["rows"] if row["is_told"]]
    rows.sort(key=lambda row: -abs(row[1]["change"]))
    return found, rows


def show(name, base, other):
    found, rows = compare(base, other)
    one, two = facts(base), facts(other)
    times = [f'{float(side.get(key) or 0):.2f}' for key in ("user_seconds", "system_seconds") for side in (one, two)]
    speed, same = found["speed"], found["same_code"]
    print(f'{name}: user {times[0]} → {times[1]} s, kernel {times[2]} → {times[3]} s, '
          f'{found["change"] / 1e6:+.0f} ms')
    print(f'  speed {"unknown" if speed is None else f"{speed:.3f}"} ±{found["speed_error"] or 0:.3f}'
          f' (others {float(one.get("others_share") or 0):.2f} → {float(two.get("others_share") or 0):.2f},'
          f' chain {float(one.get("chain_ns") or 0):.4f} → {float(two.get("chain_ns") or 0):.4f},'
          f' walk {float(one.get("walk_ns") or 0):.3f} → {float(two.get("walk_ns") or 0):.3f} ns),'
          f' {same["functions"]} functions with the same code'
          f' × {same["factor"] or 0:.3f}{" told" if same["is_told"] else ""}')
    for kind, row in rows[:ROWS]:
        print(f'  {row["change"] / 1e6:+8.1f} ±{row["change_error"] / 1e6:.1f} ms  {kind[:-1]}'
              f'  {row["text"]}  {row["match"]}')
    if not rows:
        print("  no row")
    sys.stdout.flush()
    return len(rows) + same["is_told"]


def main():
    n_false = n = 0
    with tempfile.TemporaryDirectory() as directory:
        first, second = pathlib.Path(directory, "first.lode"), pathlib.Path(directory, "second.lode")
        for kind in KINDS:
            before, after = PAIRS / f"{kind}.before", PAIRS / f"{kind}.after"
            record(before, first)
            record(before if IS_EQUAL else after, second)
            n_false += show(kind + (" twice" if IS_EQUAL else ""), first, second) > 0
            n += 1
            if IS_EQUAL:
                record_busy(before, second)
                n_false += show(f"{kind} twice, the second beside busy programs", first, second) > 0
                n += 1
    if IS_EQUAL:
        print(f"{n_false} of {n} equal pairs have a false line")


main()
