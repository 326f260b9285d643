#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# The shares of time that lode gives the data of a program, against the waits that the program itself
# has measured: by instruction, object, member, page and cache line. Prints TAP.
#
#   tests/insight/known_shares.py LODE SOURCE quick|all [POINTS]
#
# POINTS: how far a share may be off, besides three standard errors; on an idle machine 3 is enough.
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PAGE = 4096
LINE = 64
BUILDS = {
    'quick': [('gcc', 'O0'), ('clang', 'O2'), ('g++', 'O2')],
    'all': [(compiler, level) for compiler in ('gcc', 'clang', 'g++', 'clang++') for level in ('O0', 'O1', 'O2', 'O3')],
}
ROUNDS = {'quick': '300000', 'all': '2000000'}


def build(compiler, level, source, program):
    language = ['-x', 'c++'] if compiler.endswith('++') else []
    subprocess.run([compiler, *language, source, f'-{level}', '-g', '-pthread', '-o', program], check=True,
                   capture_output=True)


def record(lode, program, rounds):
    done = subprocess.run([lode, 'memory', 'record', '-F', '5000', '--no-page-faults', '--allocations', '-o', 'x.lode',
                           '--', program, rounds], check=True, capture_output=True, text=True)
    parts, line = {}, None
    for row in done.stdout.splitlines():
        words = row.split()
        if words[0] == 'part':
            function, name = words[1:3]
            ticks, start, end = map(int, words[3:6])
            parts.setdefault(function, []).append((name, ticks, start, end))
        elif words[0] == 'line':
            line = words[1:3], words[3], int(words[4])
    return parts, line


SAMPLES = '''SELECT f.name, o.name, s.address, s.rule <> 'none', s.weight, l.line, s.reason
    FROM memory_sample s LEFT JOIN function f ON f.id = s.access_function
    LEFT JOIN data_object o ON o.id = s.object LEFT JOIN location l ON l.id = s.access_location'''


class Samples:
    def __init__(self):
        database = sqlite3.connect('x.lode')
        self.rows = list(database.execute(SAMPLES))
        self.weight = sum(row[4] for row in self.rows)
        database.close()

    def of(self, function):
        return [row for row in self.rows if row[0] is not None and re.match(rf'{function}\b', row[0])]


def fault(what, found, n, truth, points):
    error = 300 * math.sqrt(truth / 100 * (1 - truth / 100) / max(n, 1))
    if abs(found - truth) <= points + error:
        return None
    return f'{what}: {found:.1f} % of {n} samples, {truth:.1f} % is true'


def shares(kind, function, parts, choose, rows, points):
    """Of the rows that one of the parts has, how much each has."""
    chosen = [choose(row, parts) for row in rows]
    n = sum(part is not None for part in chosen)
    ticks = sum(part[1] for part in parts)
    if n < 30:
        return [], n
    faults = []
    for i, part in enumerate(parts):
        truth = 100 * part[1] / ticks
        found = 100 * sum(one == i for one in chosen) / n
        print(f'# {function} {kind} {part[0]}: {found:.1f}, true {truth:.1f}')
        faults.append(fault(f'{function} {kind} {part[0]}', found, n, truth, points))
    return [one for one in faults if one], n


def by_object(row, parts):
    for i, part in enumerate(parts):
        if row[1] is not None and re.search(rf'(^|[ .]){part[0]}', row[1]):
            return i
    return None


def by_page(row, parts):
    """The page of the address, which parts may share at their ends."""
    for i, part in enumerate(parts):
        if row[3] and part[2] // PAGE <= row[2] // PAGE <= (part[3] - 1) // PAGE and part[2] <= row[2] < part[3]:
            return i
    return None


def check(name, faults):
    check.number += 1
    print(f'{"not ok" if faults else "ok"} {check.number} - {name}')
    for one in faults:
        print(f'# {one}')


check.number = 0


def is_apart(parts):
    return all(part[2] != 0 for part in parts) and len({part[2] for part in parts}) == len(parts)


def compare(parts, line, points):
    samples, faults = Samples(), []
    for function, known in parts.items():
        rows = samples.of(function)
        wrong, n = shares('by object', function, known, by_object, rows, points)
        faults += wrong
        if n < 30:
            faults.append(f'{function}: only {n} of {len(rows)} samples have an object')
        if is_apart(known):
            wrong, found = shares('by page', function, known, by_page, rows, points)
            # where less has an address it says so, and is no basis for a share
            if found >= 0.9 * n:
                faults += wrong
    writers, member, address = line
    for i, writer in enumerate(writers):
        rows = [row for row in samples.of(writer) if row[3]]
        here = [row for row in rows if row[2] // LINE == address // LINE]
        named = [row for row in here if row[1] is not None and row[1].endswith(f'{member}.{writer}')]
        print(f'# {writer}: {len(here)} of {len(rows)} accesses in the shared line, {len(named)} of its member')
        # without optimisation the loop's variables are waited for too
        if len(here) < 0.5 * len(rows) or len(named) < 0.95 * len(here):
            faults.append(f'{writer}: the line that the threads share is not what is waited for')
        if any(row[2] != address + 8 * i for row in here):
            faults.append(f'{writer}: addresses of the other thread')
    return faults


def main():
    lode, source, selection = sys.argv[1:4]
    points = float(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as directory:
        lode, source = os.path.realpath(lode), os.path.realpath(source)
        os.chdir(directory)
        trial = subprocess.run([lode, 'record', '-o', 'trial', '-e', 'cpu-clock:u', '--', 'true'], capture_output=True,
                               text=True)
        if trial.returncode != 0:
            print(f'1..0 # SKIP {trial.stderr.strip()}')
            return
        for compiler, level in BUILDS[selection]:
            if shutil.which(compiler) is None:
                print(f'# no {compiler}')
                continue
            build(compiler, level, source, './program')
            parts, line = record(lode, './program', ROUNDS[selection])
            check(f'{compiler} -{level}', compare(parts, line, points))
        print(f'1..{check.number}')


main()
