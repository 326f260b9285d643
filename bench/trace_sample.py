#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often the range of a sample ('lode trace simulate --every') has the miss ratio of the whole trace.

  bench/trace_sample.py [LODE [SEED]]     LODE is build/src/cli/lode unless given

Traces of six programs, and of synthetic patterns with working sets a bit smaller and larger than each
cache, are simulated in full and by samples of nine kinds. Prints, for each kind, in how many of the
ranges the truth is, how many had none (too few windows), and the mean width of the ranges by level.
"""
import csv
import io
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

LODE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/src/cli/lode").resolve()
RANDOM = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
CACHES = "i1=32K:8:64,d1=32K:8:64,l2=256K:8:64,l3=1M:16:64"
KIB = 1 << 10
N_ACCESSES = 1_000_000
SAMPLES = [
    (1_000_000, 10_000, 0),
    (1_000_000, 10_000, 40_000),
    (1_000_000, 50_000, 200_000),
    (200_000, 5_000, 0),
    (200_000, 10_000, 20_000),
    (100_000, 1_000, 5_000),
    (100_000, 10_000, 50_000),
    (50_000, 2_000, 10_000),
    (100_000, 10_000, 200_000),
]


def loop(size):
    address = 0
    while True:
        yield address
        address = (address + 64) % size


def uniform(size):
    while True:
        yield RANDOM.randrange(size // 8) * 8


def skewed(size):
    while True:
        yield int(size // 64 * RANDOM.random() ** 4) * 64


def phases(small, large, n):
    few, many = uniform(small), uniform(large)
    while True:
        yield from (next(few) for _ in range(n))
        yield from ((1 << 28) + next(many) for _ in range(n))


def bursts():
    rest, sweep = uniform(16 * KIB), loop(8192 * KIB)
    while True:
        yield from (next(rest) for _ in range(RANDOM.randrange(20_000, 60_000)))
        yield from ((1 << 28) + next(sweep) for _ in range(RANDOM.randrange(500, 3000)))


def growing():
    n = 8
    while True:
        n += 1
        yield RANDOM.randrange(n) * 64


PATTERNS = {f"loop-{size}": loop(size * KIB) for size in (24, 40, 220, 300, 900, 1200)}
PATTERNS |= {f"uniform-{size}": uniform(size * KIB) for size in (28, 280, 900, 2048)}
PATTERNS |= {f"skewed-{size}": skewed(size * KIB) for size in (1024, 8192)}
PATTERNS |= {"phases": phases(16 * KIB, 512 * KIB, 50_000), "bursts": bursts(), "growing": growing()}
PROGRAMS = {
    "gzip": "gzip -c input",
    "sort": "sort --parallel=1 numbers",
    "python3": "/usr/bin/python3 -S program.py",
    "awk": "awk -f program.awk numbers",
    "sqlite3": "sqlite3 -init program.sql :memory: .quit",
    "xz": "xz -2 -c input",
}


def lode(*arguments):
    return subprocess.run([LODE, *arguments], check=True, capture_output=True, text=True).stdout


def make_inputs(where):
    (where / "input").write_bytes(LODE.read_bytes()[:150_000])
    numbers = list(range(15_000))
    RANDOM.shuffle(numbers)
    (where / "numbers").write_text("".join(f"{n}\n" for n in numbers))
    (where / "program.py").write_text("print(sum(len(str(i * 7919 % 10007)) for i in range(20000)))\n")
    (where / "program.awk").write_text("{ s[$1 % 997] += $1 } END { for (i in s) t += s[i]; print t }\n")
    (where / "program.sql").write_text(
        "create table t(a integer primary key, b text);\n"
        "with recursive r(i) as (select 1 union all select i + 1 from r where i < 6000)\n"
        "insert into t select i, 'row' || (i * 7919 % 10007) from r;\n"
        "create index tb on t(b); select b, count(*) from t group by b order by 2 desc limit 3;\n"
    )


def pack_pattern(where, addresses, path):
    text = where / "text"
    with open(text, "w", encoding="ascii") as out:
        for i, address in zip(range(N_ACCESSES), addresses):
            out.write(f"I  {0x400000 + i % 40 * 4:08x},4\n L {0x10000000 + address:x},8\n")
    lode("trace", "pack", text, "-o", path, "--level", "fast")


def traces(where):
    path = where / "x.rps"
    for name, addresses in PATTERNS.items():
        pack_pattern(where, addresses, path)
        yield name, path
    make_inputs(where)
    for name, command in PROGRAMS.items():
        if shutil.which(command.split()[0]) is None:
            continue
        subprocess.run(
            [LODE, "trace", "record", "-o", path, "--level", "fast", "--", *command.split()],
            check=True, cwd=where, capture_output=True)
        yield name, path


def simulate(path, *options):
    text = lode("trace", "simulate", path, "--cache", CACHES, "--format", "csv", *options)
    return list(csv.DictReader(io.StringIO(text)))


def main():
    n = {sample: {"held": 0, "stated": 0, "none": 0, "width": {}} for sample in SAMPLES}
    with tempfile.TemporaryDirectory() as directory:
        for name, path in traces(pathlib.Path(directory)):
            whole = simulate(path)
            for sample in SAMPLES:
                every, length, warm_up = map(str, sample)
                rows = simulate(path, "--every", every, "--length", length, "--warm-up", warm_up)
                for true, row in zip(whole, rows):
                    if row["miss_ratio_low"] == "":
                        n[sample]["none"] += 1
                        continue
                    low, high = float(row["miss_ratio_low"]), float(row["miss_ratio_high"])
                    held = low - 1e-12 <= float(true["miss_ratio"]) <= high + 1e-12
                    n[sample]["stated"] += 1
                    n[sample]["held"] += held
                    n[sample]["width"].setdefault(row["cache"], []).append(high - low)
                    if not held:
                        print(name, *sample, row["cache"], true["miss_ratio"], low, high, file=sys.stderr)
    print(f"{'every':>9} {'length':>7} {'warm-up':>8} {'held':>9} {'none':>5}"
          + "".join(f"{cache:>7}" for cache in ("i1", "d1", "l2", "l3")))
    for (every, length, warm_up), of in n.items():
        widths = "".join(f"{sum(all) / len(all):7.3f}" for all in of["width"].values())
        print(f"{every:9,} {length:7,} {warm_up:8,} {of['held']:4} of {of['stated']:2}"
              f" {of['none']:4}{widths}")
    held, stated = (sum(of[key] for of in n.values()) for key in ("held", "stated"))
    print(f"{held} of {stated}: {100 * held / stated:.1f} %")


main()
