#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shares by page of loads that overwrite their own address, of a program that measures them.

  tests/e2e/overwritten_addresses.py LODE SOURCE [SEED]      SOURCE: overwritten_addresses.c

Built by gcc and clang at -O0, -O2 and -O3; with seed 7 unless one is given: LODE_SOAK_SEED, or SEED. Shares are within 6
points and four standard errors. Prints TAP; skips where nothing can be sampled.
"""
import collections
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
SEED = sys.argv[3] if len(sys.argv) > 3 else os.environ.get('LODE_SOAK_SEED', '7')
ROUNDS = '3'
POINTS = 6
LEAST_SAMPLES = 40
SAMPLES = '''SELECT f.name, s.address, s.rule, s.reason, o.layer
    FROM memory_sample s LEFT JOIN function f ON f.id = s.access_function
    LEFT JOIN data_object o ON o.id = s.object'''
TRIES = 3
number = 0


def check(name, faults):
    global number
    number += 1
    print('not ok' if faults else 'ok', number, '-', name)
    for fault in faults:
        print('#', fault)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def record(program):
    done = run(LODE, 'memory', 'record', '-F', '4000', '--no-page-faults', '-o', 'x.lode', '--', program, SEED, ROUNDS)
    parts = collections.defaultdict(lambda: collections.defaultdict(float))
    for row in done.stdout.splitlines():
        _, function, name, seconds, start, end = row.split()
        parts[function][name, int(start), int(end)] += float(seconds)
    with sqlite3.connect('x.lode') as database:
        rows = [row for row in database.execute(SAMPLES) if row[0] is not None]
    return parts, rows


def shares(function, parts, rows):
    """The share of each array among those of the function's samples that lie in one."""
    found = [next((part for part in parts if part[1] <= row[1] < part[2]), None) for row in rows if row[2] != 'none']
    n = sum(part is not None for part in found)
    seconds = sum(parts.values())
    for part, time_of_it in parts.items():
        truth, share = time_of_it / seconds, found.count(part) / max(n, 1)
        bound = POINTS / 100 + 4 * math.sqrt(truth * (1 - truth) / max(n, 1))
        print(f'# {function} {part[0]}: {100 * share:.1f} %, {100 * truth:.1f} is true')
        if abs(share - truth) > bound:
            yield f'{function}: {100 * share:.1f} % of {n} samples are in {part[0]}, {100 * truth:.1f} % is true'


def faults_of():
    parts, rows = record('./program')
    parts['threads'] = {**parts.pop('walk_in_thread', {}), **parts.pop('pick_in_thread', {})}
    n_named = n_accesses = 0
    for function, known in parts.items():
        names = ('walk_in_thread', 'pick_in_thread') if function == 'threads' else (function,)
        own = [row for row in rows if re.sub(r'\W.*', '', row[0]) in names]
        n_accesses += len(own)
        n_named += sum(row[2] != 'none' or row[4] is not None for row in own)
        if len(own) < LEAST_SAMPLES:
            continue
        located = sum(row[2] != 'none' for row in own)
        if located < 0.95 * len(own):
            yield f'{function}: {located} of {len(own)} samples have an address'
        yield from shares(function, known, own)
    print(f'# {n_named} of {n_accesses} samples have an address or an object')
    if n_named < 0.95 * n_accesses:
        yield f'{n_named} of {n_accesses} samples have an address or an object'
    if n_accesses < 200:
        yield f'only {n_accesses} samples'
    if not any(row[2] == 'next-round' for row in rows):
        yield 'no address is of the next round'


def main():
    refusal = run(LODE, 'record', '-o', 'trial', '-e', 'cpu-clock:u', '--user-regs', '-d', '--', 'true')
    if refusal.returncode != 0:
        print('1..0 # SKIP', refusal.stderr.splitlines()[-1])
        return
    print('# seed', SEED)
    builds = [(compiler, level) for compiler in ('gcc', 'clang') for level in ('O0', 'O2', 'O3')]
    for compiler, level in builds:
        name = f'{compiler} -{level}'
        if shutil.which(compiler) is None:
            print('# there is no', compiler)
            continue
        built = run(compiler, '-' + level, '-g', '-pthread', SOURCE, '-o', 'program')
        faults = [built.stderr] if built.returncode != 0 else ['not tried']
        # Beside other programs, one thread may have lost more of its samples than the other.
        for _ in range(TRIES if built.returncode == 0 else 0):
            faults = faults and list(faults_of())
        check(name, faults)
    print(f'1..{number}')


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir('/')
