#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twins with a planted cost are diagnosed, and those without it are not. Prints TAP.

    diagnosed.py LODE

The programs are those of twins.py, seed 1, with filler and rounds by which the cost takes about a third
of a second on Zen 5. A right cause must be among the first two diagnoses of `lode run`, and among the
first three of the program without the cost only with less than a third of its former share. What they
say to save is judged by bench/diagnoses.py, on a machine that is not busy. Where a diagnosis is missing
the programs are measured: a cost of less than LEAST_SAVING on this processor need not be told.

A virtual machine that its host stops, or takes memory from, shows its time elsewhere: where the first
recording is not as it should be, the next two both have to.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import kinds
import twins

SEED = 1
LEAST_SAVING = 0.12
# Kind → filler, rounds.
PROGRAMS = {
    "none": (100, 100_000),
    "division": (0, 300_000),
    "part-store": (80, 80_000),
    "chase": (4, 80_000),
    "buckets": (2400, 800),
    "atomic": (2, 120_000),
    "strlen": (400, 16_000),
    "malloc": (180, 40_000),
    "bits": (20, 60_000),
}


def diagnoses_of(lode, program):
    profile = f"{program}.lode"
    pathlib.Path(profile).unlink(missing_ok=True)
    recorded = subprocess.run([lode, "run", "-o", profile, "--", program], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
    if recorded.returncode != 0:
        raise SystemExit(f"Bail out! lode run: {recorded.stderr}")
    report = subprocess.run([lode, "report", "--format", "json", profile], stdout=subprocess.PIPE, check=True)
    return json.loads(report.stdout)["diagnoses"]


def told(diagnoses):
    return ", ".join(f"{one['cause']} {100 * one['time']:.0f} %" for one in diagnoses) or "nothing"


def fault_of(lode, kind, programs):
    """Why the diagnoses of the two programs are wrong; None where they are right."""
    right = kinds.KINDS[kind].right.split()
    found = diagnoses_of(lode, programs[0])
    if kind == "none":
        return f"diagnosed: {told(found)}" if found else None
    places = [one for one in found[:2] if one["cause"] in right]
    if not places:
        return f"diagnosed: {told(found)}"
    left = diagnoses_of(lode, programs[1])
    if any(one["cause"] in right and one["time"] > places[0]["time"] / 3 for one in left[:3]):
        return f"with {places[0]['time']:.2f}, without the cost: {told(left)}"
    return None


def is_small(programs):
    """The cost is, by the processor time of the two programs."""
    if len(programs) < 2:
        return False
    before, after = (min(times) for times in zip(*([twins.processor_time([one]) for one in programs] for _ in range(2))))
    return 1 - after / before < LEAST_SAVING


def main():
    lode = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        trial = subprocess.run([lode, "record", "-o", f"{directory}/trial", "-e", "cpu-clock:u", "--", "true"],
                               capture_output=True, text=True, check=False)
        if trial.returncode != 0:
            print(f"1..0 # SKIP {trial.stderr.strip()}")
            return
        for number, (kind, (filler, rounds)) in enumerate(PROGRAMS.items(), 1):
            programs = []
            for side, word in enumerate(("before", "after") if kind != "none" else ("before",)):
                writer = twins.Writer(kind, SEED, side)
                source = pathlib.Path(directory, f"{kind}.{word}" + (".cc" if writer.cost.is_cpp else ".c"))
                source.write_text(writer.program(filler, rounds), encoding="utf-8")
                programs.append(str(source.with_suffix("")))
                twins.compile_program(source, programs[-1])
            fault = fault_of(lode, kind, programs)
            if fault and not any(fault_of(lode, kind, programs) for _ in range(2)):
                fault = None
            if fault and is_small(programs):
                print(f"ok {number} - {kind} # SKIP it costs little on this processor", flush=True)
                continue
            print(f"{'not ok' if fault else 'ok'} {number} - {kind}" + (f"\n# {fault}" if fault else ""), flush=True)
    print(f"1..{len(PROGRAMS)}")


if __name__ == "__main__":
    main()
