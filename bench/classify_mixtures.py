#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inputs and the tables of bench/classify_mixtures.sh.

    classify_mixtures.py inputs DIRECTORY SEED
    classify_mixtures.py tables LODE              in the directory of the recordings
"""
import glob
import json
import random
import sqlite3
import subprocess
import sys

import classify_inputs as kinds

WORDS = [400, 3000, 12000, 40000, 800, 6000, 20000, 1500]


def write_inputs(directory, seed):
    for n in range(1, 9):
        rng = random.Random(seed + n * 13)
        texts = [kinds.prose(rng, WORDS[n - 1], 400000), kinds.table(rng, 400000), kinds.code(rng, 900, 1),
                 kinds.records(rng, 300000)]
        size = 300000 + 40000 * n
        for name, data in {
                f"text.{n}": texts[n % 4],
                f"words.{n}": kinds.prose(rng, WORDS[n - 1], size),
                f"rows.{n}": kinds.table(rng, size),
                f"numbers.{n}": "\n".join(str(rng.randint(1, 10 ** rng.randint(3, 8))) for _ in range(30000 + 5000 * n)) + "\n",
                f"write.{n}.sql": kinds.write_load(rng, 6000 + 1000 * n, WORDS[n - 1]),
                f"data.{n}.json": kinds.document(rng, 3000 + 500 * n),
                f"code.{n}.c": kinds.code(rng, 150, n % 4)}.items():
            with open(f"{directory}/{name}", "wb") as out:
                out.write(data if isinstance(data, bytes) else data.encode())


def true_shares(path):
    """Shares of the samples by process name, without the shells, which are in the signatures too."""
    rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
        "SELECT t.name, sum(s.weight) FROM stack_sample s JOIN stack_thread t ON t.id = s.thread GROUP BY t.name").fetchall()
    rows = [(name, weight) for name, weight in rows if name not in ("sh", "timeout", "run", "bash")]
    total = sum(weight for _, weight in rows)
    return {name: weight / total for name, weight in rows}


def print_table(lode, kind, signatures):
    n = held = 0
    print(f"\n{kind}")
    for path in sorted(glob.glob(f"{kind}/*.lode")):
        run = subprocess.run([lode, "classify", path, "--signatures", signatures, "--format", "json"],
                             capture_output=True, text=True, check=True)
        found = json.loads(run.stdout)
        truth = true_shares(path)
        shares = []
        for match in found["signatures"]:
            if match["share"] == 0 or found["verdict"] == "none":
                continue
            true = truth.get(match["signature"].split("-")[0], 0)
            is_held = abs(true - match["group_share"]) <= match["group_error"]
            n += 1
            held += is_held
            shares.append(f"{match['signature']} {100 * match['group_share']:.1f} ± {100 * match['group_error']:.1f}"
                          f" (true {100 * true:.1f}){'' if is_held else ' !'}")
        nearest = found["signatures"][0]
        print(f"  {path[len(kind) + 1:-5]:18s} {found['verdict']:8s} {found['distance']:.3f} of {found['limit']:.3f}"
              f"  {', '.join(shares) or 'nearest ' + nearest['signature']}")
    print(f"  {held} of {n} shares within what is stated")


def main():
    if sys.argv[1] == "inputs":
        write_inputs(sys.argv[2], int(sys.argv[3]))
        return
    for kind in ["single", "turns", "together", "beside", "stranger"]:
        print_table(sys.argv[2], kind, "known" if kind != "single" else "alike")
    print_table(sys.argv[2], "scripts", "alike")


main()
