#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The time of diagnoses of services, of a program that has a known share in functions of a library.

  tests/e2e/service_shares.py LODE SOURCE      SOURCE: service_shares.cpp

The program measures the share by its own clock of processor time, in the run that is recorded: so a busy machine changes
both alike. The time shown may be less by what the loops around the calls take, which is theirs. One half of the kinds of
functions has 25 % of the time, the other 70; with LODE_LONG_TESTS in the environment each has both. Prints TAP; skips without a
compiler, and where nothing can be sampled.
"""
import json
import os
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
SECONDS = '1.2'
LEAST_SAMPLES = 300
# mode → cause, name of the diagnosis, the part of the turns of calls that their loops may take
MODES = {
    'strlen': ('service-string', 'service-string@strlen', 0.05),
    'malloc': ('service-allocator', 'service-allocator@allocator', 0.2),
    'pow': ('service-math', 'service-math@powers', 0.2),
    'sort': ('service-sort', 'service-sort@sorting', 0.1),
    'hash': ('service-hash', 'service-hash@hashing', 0.15),
    'tree': ('service-tree', 'service-tree@search trees', 0.1),
}
# Beside four standard errors: start and end of the program, and samples that are not where they were taken.
TOLERANCE = 0.04
number = 0


def check(name, faults):
    global number
    number += 1
    print('not ok' if faults else 'ok', number, '-', name)
    for fault in faults:
        print('#', fault)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def faults_of(mode, percent):
    cause, name, loops = MODES[mode]
    done = run(LODE, 'run', '-o', 'x.lode', '--report', '/dev/null', '--', './shares', mode, str(percent), SECONDS)
    report = run(LODE, 'report', 'x.lode', '--format', 'json')
    if done.returncode != 0 or report.returncode != 0:
        return [done.stderr, report.stderr]
    out = json.loads(report.stdout)
    if out['samples'] < LEAST_SAMPLES:
        return []
    share = float(done.stdout.split()[0])
    found = [one for one in out['diagnoses'] if one['name'] in (name, f"repeated-work@{name.split('@')[1]}")]
    if len(found) != 1:
        return [f'{len(found)} diagnoses of {cause}: {[one["name"] for one in out["diagnoses"]]}']
    time, error = found[0]['time'], found[0]['time_error']
    slack = 4 * error + TOLERANCE
    if not share * (1 - loops) - slack <= time <= share + slack:
        return [f'{share:.3f} of the time by its own clock, shown as {time:.3f} ± {error:.3f}']
    return []


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    built = run('g++', '-g', '-O2', '-fno-builtin', SOURCE, '-o', 'shares')
    trial = run(LODE, 'record', '-o', 'trial', '-e', 'cpu-clock:u', '--', 'true')
    if built.returncode != 0 or trial.returncode != 0:
        print('1..0 # SKIP', (built.stderr + trial.stderr).strip().splitlines()[-1])
        sys.exit(0)
    is_long = 'LODE_LONG_TESTS' in os.environ
    cases = [(mode, percent) for i, mode in enumerate(MODES) for percent in ((25, 70) if is_long else ((25, 70)[i % 2],))]
    print(f'1..{len(cases)}')
    for mode, percent in cases:
        check(f'{percent} % in {mode}', faults_of(mode, percent))
