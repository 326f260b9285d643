#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the findings of two profiles of the same program.

    finding_overlap.py NAME A.lode B.lode

Prints how many of the first five findings by time of each are among the first eight of the other:
by their text, and by their places, which are the same where at least half of the time lies at the
same instructions (the sum of the lesser of both shares of each instruction), or in the same
functions where a finding has more instructions than a profile keeps. Code made at run time is made
anew in each run, elsewhere and perhaps inlined into another method: its places are source lines of
the innermost method, and where these are not known offsets into functions. FINDINGS=1 prints the
findings too.
"""
import os
import sqlite3
import sys


PLACES_KEPT = 1000


def read(path):
    """The findings of run main: (time, text, {place: share}, {function: share}), and the samples."""
    data = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    run, samples = data.execute(
        "SELECT id, samples FROM run JOIN run_findings ON run = id WHERE name = 'main'").fetchone()
    findings = []
    for number, items, focus, time in data.execute(
            'SELECT id, items, focus, time FROM finding WHERE run = ? ORDER BY time DESC', (run,)):
        rows = list(data.execute(
            '''SELECT image.kind, image.path, function.name, function.address, instruction.address,
                      string.text, location.line, location.inlined, time
               FROM finding_place
               JOIN instruction ON instruction.id = finding_place.instruction
               JOIN function ON function.id = instruction.function
               JOIN image ON image.id = function.image
               LEFT JOIN location ON location.id = instruction.location
               LEFT JOIN string ON string.id = location.file
               WHERE run = ? AND finding = ?''', (run, number)))
        whole = sum(row[-1] for row in rows) or 1
        places, functions = {}, {}
        for kind, image, name, function, address, file, line, _, part in rows:
            if kind != 'jit':
                place = (image, address)
            elif file is not None:
                place = ('jit', file, line)
            else:
                place = ('jit', name, address - function)
            function = ('jit', name) if kind == 'jit' else (image, function)
            places[place] = places.get(place, 0) + part / whole
            functions[function] = functions.get(function, 0) + part / whole
        findings.append((time, f'{focus} {items}', places, functions))
    return findings, samples


def is_same_text(one, other):
    return one[1] == other[1]


def is_same_place(one, other):
    kind = 3 if min(len(one[2]), len(other[2])) >= PLACES_KEPT else 2
    return sum(min(share, other[kind].get(place, 0)) for place, share in one[kind].items()) >= 0.5


def count(findings, others, is_same):
    return sum(any(is_same(one, other) for other in others[:8]) for one in findings[:5])


name, first_path, second_path = sys.argv[1:]
(first, samples), (second, _) = read(first_path), read(second_path)
print(f'{name:12} {samples:9.0f}' + ''.join(
    f'{count(first, second, same):6} {count(second, first, same)} of '
    f'{min(5, len(first))} {min(5, len(second))}' for same in (is_same_text, is_same_place)))
if os.environ.get('FINDINGS'):
    for findings in first, second:
        for time, text, places, _ in findings[:8]:
            print(f'    {time:6.3f}  {text}  {len(places)} places, {max(places, key=places.get)}')
        print()
