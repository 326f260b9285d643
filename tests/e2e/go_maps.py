#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Buckets of Go's maps are named by the map's type, and its variable, of a program that prints where they lie.

  tests/e2e/go_maps.py LODE SOURCE [SEED]      SOURCE: go_maps.go

Built with and without optimisation, and to be loaded anywhere. No sample in a bucket has the name of a different map;
of two alike, looked up 70 : 30, the first has the share of the time that the program measures, within 5 points and four
standard errors. Prints TAP; skips without Go, or with one that has maps of a different form (1.24), and where nothing can
be sampled.
"""
import collections
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
SEED = sys.argv[3] if len(sys.argv) > 3 else os.environ.get('LODE_SOAK_SEED', '7')
BUILDS = {'plain': [], 'without optimisation': ['-gcflags=-N -l'], 'pie': ['-buildmode=pie']}
LEAST_SAMPLES = 200
LEAST_NAMED = 0.85  # of the samples in buckets, in functions that are named
VARIABLES = {'int64,int64': 'main.seven', 'int64,uint64': 'main.table.rows'}
SAMPLES = '''SELECT f.name, s.address, o.name, o.variable FROM memory_sample s
    LEFT JOIN function f ON f.id = s.access_function LEFT JOIN data_object o ON o.id = s.object WHERE s.rule <> 'none' '''
number = 0


def check(name, faults):
    global number
    number += 1
    print('not ok' if faults else 'ok', number, '-', name)
    for fault in faults:
        print('#', fault)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def map_of(address, ranges):
    return next((types for types, (start, end) in ranges.items() if start <= address < end), None)


def faults_of(rows, ranges, truth):
    inside, named, wrong = collections.Counter(), collections.Counter(), collections.Counter()
    for function, address, name, variable in rows:
        types = map_of(address, ranges)
        claimed = re.match(r'struct bucket<(.*)>', name or '')
        if types and claimed and claimed[1] != types:
            wrong[function, types, name] += 1
        if types and variable and variable != VARIABLES.get(types, variable):
            wrong[function, types, variable] += 1
        if types and re.match(r'main\.|runtime\.map(access|assign)', function or ''):
            inside[types] += 1
            named[types] += bool(claimed) and (variable is not None or types not in VARIABLES)
    for (function, types, name), n in wrong.items():
        yield f'{n} samples of {function} in a bucket of {types} are named {name}'
    for types in ranges:
        print(f'# {types}: {named[types]} of {inside[types]} samples named')
        if inside[types] >= LEAST_SAMPLES and named[types] < LEAST_NAMED * inside[types]:
            yield f'{types}: {named[types]} of {inside[types]} samples named'
    # the maps are filled by mapassign, which is no look-up
    two = [sum(f'bucket<{types}>' in (name or '') and 'mapassign' not in (function or '') for function, _, name, _ in rows)
           for types in ('int64,int64', 'int64,uint64')]
    n = max(sum(two), 1)
    share, bound = two[0] / n, 0.05 + 4 * math.sqrt(truth * (1 - truth) / n)
    print(f'# {100 * share:.1f} % of {n} samples are of the first, {100 * truth:.1f} % of the time')
    if abs(share - truth) > bound:
        yield f'{100 * share:.1f} % of {n} samples are of the first, {100 * truth:.1f} % of the time'


def main():
    version = run('go', 'version').stdout if any(
        os.access(os.path.join(folder, 'go'), os.X_OK) for folder in os.environ.get('PATH', '').split(':')) else ''
    found = re.search(r'go1\.(\d+)', version)
    if not found or not 17 <= int(found[1]) < 24:
        print('1..0 # SKIP no Go of 1.17 to 1.23')
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.setdefault('GOCACHE', os.path.join(folder, 'cache'))
        for build, options in BUILDS.items():
            made = run('go', 'build', *options, '-o', 'program', SOURCE)
            if made.returncode != 0:
                check(f'{build} # SKIP {made.stderr.splitlines()[-1:]}', [])
                continue
            done = run(LODE, 'memory', 'record', '-F', '4000', '--no-page-faults', '-o', 'x.lode', '--', './program', SEED, '10')
            if done.returncode != 0:
                print('1..0 # SKIP', done.stderr.strip().splitlines()[-1:])
                return
            *shown, truth = done.stdout.splitlines()
            ranges = {types: (int(start, 16), int(end, 16)) for types, start, end in map(str.split, shown)}
            with sqlite3.connect('x.lode') as database:
                rows = list(database.execute(SAMPLES))
            check(f'maps of a program built {build}', list(faults_of(rows, ranges, float(truth))))
    print(f'1..{number}')


main()
