#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Facts of addresses (docs/reference/address-attributes.md) of a program that has one kind of addresses at a time.

  tests/e2e/address_facts.py LODE SOURCE      SOURCE: address_facts.c

Each kind must have its facts at the load that waits, unless a busy machine gave too few windows or samples to know them,
and none that belong to others. Built by gcc at -O2, one half of the kinds by gcc at -O0, too, the other by clang at -O2; with
LODE_LONG_TESTS in the environment all of them by each. Prints TAP; skips where nothing can be sampled.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LODE, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
IS_LONG = 'LODE_LONG_TESTS' in os.environ
# kind: its function, facts that it must have, facts that it must not have
KINDS = {
    'pages': ('walk', {'address:early', 'stride:4096', 'lines:partly-used', 'spread:tlb'}, {'conflict:first-level'}),
    'lines': ('walk', {'address:early', 'stride:8', 'lines:used'}, {'conflict:first-level', 'spread:tlb', 'lines:partly-used'}),
    'records': ('walk', {'address:early', 'stride:128', 'lines:partly-used'}, {'conflict:first-level', 'spread:tlb'}),
    'gather': ('gather', {'address:early', 'stride:none', 'lines:partly-used', 'spread:tlb'}, {'conflict:first-level'}),
    'small': ('gather', {'address:early', 'stride:none'}, {'conflict:first-level', 'spread:tlb'}),
    'chase': ('chase', {'lines:partly-used', 'spread:tlb'}, {'address:early', 'conflict:first-level', 'lines:used'}),
    'columns': ('columns', {'address:early', 'stride:4096', 'conflict:first-level'}, {'spread:tlb'}),
    'padded': ('columns', {'address:early', 'stride:4160'}, {'spread:tlb', 'conflict:first-level', 'conflict:pitch'}),
    'pitch': ('columns', {'address:early', 'stride:4096', 'conflict:pitch'}, {'spread:tlb'}),
    'even': ('columns', {'address:early', 'stride:4160'}, {'spread:tlb', 'conflict:first-level', 'conflict:pitch'}),
}
# The load of the data, not that of an index or of a local variable: it has most of the object's accesses in windows.
LOAD = '''SELECT s.access_instruction FROM memory_sample s JOIN event e ON e.id = s.event JOIN function f ON f.id = s.access_function
    JOIN data_object o ON o.id = s.object WHERE f.name GLOB ? AND s.access = 'load' AND o.variable = 'data'
    GROUP BY 1 ORDER BY sum(s.weight) DESC LIMIT 1'''
FACTS = '''SELECT name FROM instruction_attribute WHERE instruction = ? AND (name GLOB 'stride:*' OR name GLOB 'lines:*' OR
    name GLOB 'spread:*' OR name GLOB 'conflict:*' OR name = 'address:early')'''
# Without optimisation its samples have no address (docs/use/data-addresses.md: the loop may be left), and windows alone are too few.
# Its counters are in memory, so that the code does not tell that a walk comes back.
NOT_KNOWN = {('-O0', 'chase'): {'spread:tlb'}, ('-O0', 'pitch'): {'conflict:pitch'}}
# The load's accesses in windows, visits of lines, samples with an address, long windows; and how many of each a fact needs.
# Half of the steps are in windows of 64 to 127 steps, in which no column comes back, and there may be no others by chance.
COUNTS = '''SELECT (SELECT accesses FROM window_instruction WHERE instruction = :load),
    (SELECT n FROM window_fact WHERE instruction = :load AND fact = 'line_visits'),
    (SELECT count(*) FROM memory_sample WHERE access_instruction = :load AND rule <> 'none'),
    (SELECT max(steps - 96 * windows, 0) / 1500 FROM window_recording)'''
NEEDS = {'stride': (0, 30), 'conflict': (3, 3), 'lines': (1, 16), 'spread': (2, 400), 'conflict:pitch': (0, 100)}
# Those that gcc also builds at -O0, and clang those that it does not.
WITHOUT_OPTIMISATION = {'pages', 'records', 'small', 'columns', 'even'}
number = 0


def check(name, faults):
    global number
    number += 1
    print('not ok' if faults else 'ok', number, '-', name)
    for fault in faults:
        print('#', fault)
    sys.stdout.flush()


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def faults_of(level, kind):
    function, wanted, unwanted = KINDS[kind]
    wanted = wanted - NOT_KNOWN.get((level, kind), set())
    # Long windows, which show conflicts, are few: some 3 in a second.
    seconds = '1' if IS_LONG or any(name.startswith('conflict:') for name in wanted) else '0.5'
    done = run(LODE, 'memory', 'record', '--windows', '15%', '-o', 'x.lode', '--', './program', kind, seconds)
    if done.returncode != 0:
        return [f'{kind}: {done.stderr.strip()}']
    with sqlite3.connect('x.lode') as base:
        found = base.execute(LOAD, (function + '*',)).fetchone()
        if found is None:
            return [f'{kind}: no load of the data']
        facts = {name for name, in base.execute(FACTS, found)}
        counts = [n or 0 for n in base.execute(COUNTS, {'load': found[0]}).fetchone()]
    print('#', kind, *sorted(facts), *counts)
    needs = {name: NEEDS.get(name, NEEDS.get(name.split(':')[0], (0, 0))) for name in wanted}
    wanted = {name for name, (which, least) in needs.items() if counts[which] >= least}
    return [f'{kind}: no {name}' for name in sorted(wanted - facts)] + [f'{kind}: {name}' for name in sorted(unwanted & facts)]


def lasting_faults_of(level, kind):
    """Those of a second recording, too: which windows and samples there are is chance."""
    faults = faults_of(level, kind)
    return [fault for fault in faults_of(level, kind) if fault in faults] if faults else []


def main():
    trial = run(LODE, 'memory', 'record', '--windows', '3%', '-o', 'trial', '--', 'true')
    if trial.returncode != 0:
        print('1..0 # SKIP', (trial.stderr.splitlines() or ['?'])[-1])
        return
    for compiler, level, usual in (('gcc', '-O2', set(KINDS)), ('gcc', '-O0', WITHOUT_OPTIMISATION),
                                   ('clang', '-O2', set(KINDS) - WITHOUT_OPTIMISATION)):
        if shutil.which(compiler) is None:
            print('# there is no', compiler)
            continue
        built = run(compiler, level, '-g', SOURCE, '-o', 'program')
        faults = [built.stderr] if built.returncode != 0 else [
            fault for kind in KINDS if IS_LONG or kind in usual for fault in lasting_faults_of(level, kind)]
        check(f'{compiler} {level}', faults)
    print(f'1..{number}')


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir('/')
