#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which facts tell a program with a cost from the same program without it, and from other programs.

  bench/facts.py [--recordings DIR] PAIRS [LODE [KIND…]]     LODE is build/src/cli/lode unless given

PAIRS is a directory of KIND.before.c and KIND.after.c (or .cc, .js) and fixes.tsv, whose first columns
are KIND and the saving in percent. Each program is built (gcc or g++ -O2 -g -pthread) and recorded by
'lode run --windows 10%'; with --recordings, DIR/KIND.before.lode and DIR/KIND.after.lode are read instead.

Facts are those of 'lode info' (docs/reference/attributes.md), and these:

  needs:part-store, kind:atomic and others of ATTRIBUTES below
  not-foretold:…  outcomes of branches, or targets of indirect jumps and calls, of 1,000 instructions in windows
  pooled:…        of all accesses in windows: split, conflicting, part_stored; of all steps: denormals;
                  of calls that were compared: same_arguments
  gather          gather instructions
  after-fence     instructions right after a fence
  shared-lines    accesses to lines that several threads use, of which one stores
  limit:WHAT      innermost loops whose time of an iteration is within 15 % of this bound
  service:FAMILY  functions of the family, with all that they call
  kernel          the kernel's part of the processor time

Prints, for each pair, the saving on this machine (least processor time of three runs in turn; with
--recordings as given), and facts in percent of the time, before -> after: the one that tells it from
the other pairs, with how many of them have half as much of it before, then those that differ most.
"""
import argparse
import json
import pathlib
import resource
import sqlite3
import subprocess
import tempfile

ROUNDS = 3
SHOWN = 4
LEAST_DIFFERENCE = 5  # points
NEAR = 0.85  # of the measured time
ATTRIBUTES = ("needs:part-store", "address:load", "kind:atomic", "kind:div", "kind:string", "kind:fence", "kind:syscall", "at:entry")
POOLED = (("split", "accesses"), ("conflicting", "accesses"), ("part_stored", "accesses"), ("denormals", "steps"))
SIDES = ("before", "after")
UNITS = ("divider", "load", "store", "branch", "alu", "float", "vector", "ports", "width")


def build(pairs, kind, side, directory):
    for suffix, compiler in ((".c", "gcc"), (".cc", "g++")):
        source = pairs / f"{kind}.{side}{suffix}"
        if source.exists():
            program = directory / f"{kind}.{side}"
            subprocess.run([compiler, "-O2", "-g", "-pthread", "-o", program, source, "-lm"], check=True)
            return [str(program)]
    return ["node", str(pairs / f"{kind}.{side}.js")]


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def answer(lode, *words):
    return json.loads(subprocess.run([lode, *words, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)


def limits_of(base, total):
    """Of each bound, the share of the weight of the innermost loops that it limits."""
    shares = {}
    meta = dict(base.execute("SELECT key, value FROM meta WHERE key = 'cycles_per_ns'"))
    rate = float(meta.get("cycles_per_ns") or 0)
    rows = base.execute(
        f"SELECT weight, iteration_ns, recurrence, recurrence_cycles, {', '.join(UNITS)} FROM loop "
        "WHERE is_innermost AND weight > 0 AND iteration_ns > 0"
    )
    for weight, ns, recurrence, chain, *units in rows:
        least = NEAR * ns * rate
        bounds = dict(zip(UNITS, units))
        if recurrence is not None:
            bounds["recurrence-" + recurrence] = chain or 0
        for name, cycles in bounds.items():
            if rate > 0 and cycles >= least:
                shares["limit:" + name] = shares.get("limit:" + name, 0) + 100 * weight / total
    return shares


def attributes_of(base, event, total):
    rows = base.execute(
        "SELECT a.name, sum(c.value) FROM cost c JOIN instruction i ON i.id = c.instruction "
        "JOIN attribute_set_member m ON m.attribute_set = i.attribute_set JOIN attribute a ON a.id = m.attribute "
        f"WHERE c.event = ? AND a.name IN ({', '.join('?' * len(ATTRIBUTES))}) GROUP BY a.name",
        (event, *ATTRIBUTES),
    )
    shares = {name: 100 * value / total for name, value in rows}
    (gathers,) = base.execute(
        "SELECT sum(c.value) FROM cost c JOIN instruction_attribute a ON a.instruction = c.instruction "
        "WHERE c.event = ? AND a.name LIKE 'op:%gather%'",
        (event,),
    ).fetchone()
    (fenced,) = base.execute(
        "SELECT sum(c.value) FROM cost c JOIN instruction_attribute a ON a.instruction = c.instruction - 1 "
        "WHERE c.event = ? AND a.name = 'kind:fence'",
        (event,),
    ).fetchone()
    shares["gather"] = 100 * (gathers or 0) / total
    shares["after-fence"] = 100 * (fenced or 0) / total
    return shares


def pooled_of(base):
    """Many instructions with few observations each; model/observed/pooled_windows.h."""
    shares = {}
    for part, whole in POOLED:
        parts, wholes = base.execute(f"SELECT sum({part}), sum({whole}) FROM window_instruction").fetchone()
        shares["pooled:" + part] = 100 * (parts or 0) / (wholes or 1)
    counts = dict(base.execute("SELECT fact, sum(n) FROM window_fact GROUP BY fact"))
    shares["pooled:same_arguments"] = 100 * counts.get("same_arguments", 0) / (counts.get("compared_calls") or 1)
    return shares


def unforetold_of(base):
    shares = {}
    (steps,) = base.execute("SELECT sum(steps) FROM window_instruction").fetchone()
    for kind, name in (("kind:branch", "branch"), ("kind:indirect", "target")):
        rows = base.execute(
            "SELECT sum(w.steps * CAST(w.unforetold AS REAL) / w.outcomes) FROM window_instruction w "
            "JOIN instruction_attribute a ON a.instruction = w.instruction WHERE a.name = ? AND w.outcomes >= 30",
            (kind,),
        )
        shares["not-foretold:" + name] = 1000 * (rows.fetchone()[0] or 0) / (steps or 1)
    return shares


def shared_of(lode, profile):
    """In percent; nothing where no data addresses were sampled."""
    ran = subprocess.run([lode, "memory", profile, "--sharing", "--format", "json"], capture_output=True, text=True)
    return 100 * json.loads(ran.stdout)["shared"]["share"] if ran.returncode == 0 else 0


def facts_of(lode, profile):
    info = answer(lode, "info", profile)
    shares = {row["name"]: 100 * (row["share"] or 0) for row in info["facts"]}
    base = sqlite3.connect(f"file:{profile}?mode=ro", uri=True)
    meta = dict(base.execute("SELECT key, value FROM meta"))
    (total,) = base.execute("SELECT total FROM event WHERE id = ?", (meta["weight_event"],)).fetchone()
    shares.update(attributes_of(base, meta["weight_event"], total))
    shares.update(limits_of(base, total))
    shares.update(unforetold_of(base))
    shares.update(pooled_of(base))
    shares["shared-lines"] = shared_of(lode, profile)
    for family in answer(lode, "report", profile, "--functions").get("families") or []:
        weight = family["inclusive"] if family["inclusive"] is not None else family["weight"]
        shares["service:" + family["name"]] = 100 * weight / total
    user, system = (float(meta.get(key) or 0) for key in ("user_seconds", "system_seconds"))
    shares["kernel"] = 100 * system / (user + system) if user + system > 0 else 0
    return shares


def record(lode, command, profile):
    subprocess.run([lode, "run", "--windows", "10%", "-o", profile, "--", *command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(lode, pairs, kind, directory):
    """The saving on this machine in percent; leaves the recordings in the directory."""
    commands = {side: build(pairs, kind, side, directory) for side in SIDES}
    times = {side: [] for side in SIDES}
    for _ in range(ROUNDS):
        for side in SIDES:
            times[side].append(processor_time(commands[side]))
    for side in SIDES:
        record(lode, commands[side], directory / f"{kind}.{side}.lode")
    return 100 * (1 - min(times["after"]) / min(times["before"]))


def differing(facts):
    """(difference, fact) of a pair, the largest first."""
    names = {**facts["before"], **facts["after"]}
    rows = [(facts["before"].get(name, 0) - facts["after"].get(name, 0), name) for name in names]
    return sorted((row for row in rows if abs(row[0]) >= LEAST_DIFFERENCE), key=lambda row: (-abs(row[0]), row[1]))


def telling(kind, facts):
    """The fact that fewest other pairs have half as much of before; and how many have."""
    found = []
    for difference, name in differing(facts[kind]):
        share = facts[kind]["before"].get(name, 0)
        others = sum(it["before"].get(name, 0) >= share / 2 for other, it in facts.items() if other != kind)
        if difference > 0:
            found.append((others, -difference, name))
    return min(found, default=None)


def text_of(name, facts):
    return f"{name} {facts['before'].get(name, 0):.0f} -> {facts['after'].get(name, 0):.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=pathlib.Path)
    parser.add_argument("pairs", type=pathlib.Path)
    parser.add_argument("lode", type=pathlib.Path, nargs="?", default=pathlib.Path("build/src/cli/lode"))
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    lode, pairs = options.lode.resolve(), options.pairs.resolve()
    rows = [line.split("\t") for line in (pairs / "fixes.tsv").read_text().splitlines()[1:]]
    facts, savings = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.recordings or pathlib.Path(scratch)
        for kind, saving in ((row[0], row[1]) for row in rows):
            if options.kinds and kind not in options.kinds:
                continue
            savings[kind] = f"{saving} %"
            if not options.recordings:
                savings[kind] = f"{measure(lode, pairs, kind, directory):.0f} % ({saving} given)"
            facts[kind] = {side: facts_of(lode, directory / f"{kind}.{side}.lode") for side in SIDES}
    for kind, both in facts.items():
        tells = telling(kind, facts)
        told = f"{text_of(tells[2], both)} ({tells[0]} others)" if tells else "no fact is more before"
        more = [text_of(name, both) for _, name in differing(both) if not tells or name != tells[2]]
        print(f"{kind:18} saves {savings[kind]}  {told}; {', '.join(more[:SHOWN])}", flush=True)


if __name__ == "__main__":
    main()
