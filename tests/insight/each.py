#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a finding says that each execution costs, against what it does cost.

    each.py LODE PROGRAM.c PER_CALL ATTRIBUTES [TOLERANCE]

The program has a cost planted PER_CALL times in each of two hundred functions; a finding is the one
that is looked for where its focus or context has one of ATTRIBUTES, separated by commas. The program
is compiled with what is planted and without (PLAIN): the difference of the processor times, divided
by the executions of what is planted, is the truth: what its removal would save. Alone (ALONE), where
nothing is done while it waits, it may cost more; that is printed as well. Each time is the least of
several, as other programs on the machine disturb them. With TOLERANCE, such as 0.4, it is an error when a figure is
further off than that share of the truth.

Prints for counted executions and for samples alone what the finding says, its error, and its ratio
to the truth: as it is, and where the recorded run is scaled to the time of an undisturbed one, as
sampling takes time too. From samples alone there is no time of an execution: it is that of the
finding, divided by the executions.
Exit status: 0 found, 1 not found or too far off, 77 skipped.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

CALLS = 200 * 40
ROUNDS = int(os.environ.get("ROUNDS", "1000"))
TRIALS = 7
FEW_TRIALS = 4  # where the tolerance is large
FEW_SAMPLES = 1000


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)


def seconds(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def measure(programs, n_trials):
    """The least time of each program; they take turns, as the machine's load changes."""
    return [min(times) for times in zip(*([seconds(one) for one in programs] for _ in range(n_trials)))]


def find(report, attributes):
    for one in report["findings"]:
        if attributes & set(sum(one["context"], one["focus"])):
            return one
    return None


def report_of(lode, profile, options, program):
    run(lode, "run", *options, "-F", "10000", "-o", profile, "--", program)
    report = json.loads(run(lode, "report", profile, "--format", "json").stdout)
    for one in report["findings"][:8] if os.environ.get("FINDINGS") else []:
        print(f"#   {100 * one['time']:5.1f} % ±{100 * one['time_error']:.1f} {one['each']:.2f} "
              f"in all {one['each_in_all']:.2f} {one['places']} places {one['context']} {one['focus']}")
    return report


def main():
    lode, source, per_call, attributes = sys.argv[1:5]
    tolerance = float(sys.argv[5]) if len(sys.argv) > 5 else None
    attributes = set(attributes.split(","))
    executions = CALLS * ROUNDS * float(per_call)
    name = os.path.basename(source)[:-2].replace("_", " ")
    is_wrong = False
    with tempfile.TemporaryDirectory() as directory:
        builds = ("PLANTED", "PLAIN", "ALONE", "PLAIN -DALONE")
        programs = [os.path.join(directory, str(i)) for i in range(len(builds))]
        for program, defines in zip(programs, builds):
            run(os.environ.get("INSIGHT_CC", "gcc"), "-O1", "-g", *f"-D{defines} -DROUNDS={ROUNDS}".split(), "-o",
                program, source, "-lm")
        profile = os.path.join(directory, "x.lode")
        trial = subprocess.run((lode, "record", "-o", os.path.join(directory, "trial"), "-e", "cpu-clock:u", "--",
                                "true"), capture_output=True, text=True, check=False)
        if trial.returncode != 0:
            print(f"skipped: {trial.stderr}")
            sys.exit(77)
        planted, plain, alone, plain_alone = measure(
            programs, FEW_TRIALS if tolerance is not None and tolerance >= 0.5 else TRIALS)
        truth = 1e9 * (planted - plain) / executions
        if planted < 1.1 * plain:
            print(f"skipped: what is planted costs little here: {planted:.3f} s with it, {plain:.3f} s without")
            sys.exit(77)
        least, most = sorted((truth, 1e9 * (alone - plain_alone) / executions))
        print(f"{name}: {truth:.2f} ns each; {planted:.3f} s with it, {plain:.3f} s without; "
              f"alone {1e9 * (alone - plain_alone) / executions:.2f} ns")
        for how, options in ("counted", ("--count", "--fast")), ("samples", ()):
            report = report_of(lode, profile, options, programs[0])
            if report["samples"] < FEW_SAMPLES:
                print(f"skipped: only {report['samples']:.0f} samples, this machine gives the program little time")
                sys.exit(77)
            if how == "counted" and report["each_unit"] != "ns":
                print("skipped: executions cannot be counted here")
                continue
            one = find(report, attributes)
            if one is None:
                print(f"  {how:8} no finding with {' or '.join(sorted(attributes))}")
                is_wrong = True
                continue
            weight = report["profile"]["weight"]
            each = one["each_in_all"] if how == "counted" else \
                one["time"] * weight / executions * one["each_in_all"] / one["each"]
            error = each * one["time_error"] / one["time"]
            scaled = each * planted / (1e-9 * weight)
            print(f"  {how:8} {each:.2f} ns ±{error:.2f} each, {each / truth:.2f} of the truth; {scaled / truth:.2f} "
                  f"without what sampling takes; {100 * one['time']:.1f} % in {one['places']} places")
            is_wrong |= tolerance is not None and not (
                (1 - tolerance) * least - 3 * error <= scaled <= (1 + tolerance) * most + 3 * error)
    sys.exit(is_wrong)


main()
