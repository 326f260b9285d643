#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks, spilled registers and small calls by the code alone, of programs made with them and without.

  tests/e2e/code_facts.py LODE FOLDER      FOLDER: code_facts

Spills of clang are as many as it says itself (-Rpass-missed=regalloc); those of gcc are all accesses of slots of the
frame in the listing of objdump that are stored and loaded. Prints TAP; skips without a compiler, and where nothing can
be sampled.
"""
import collections
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LODE, FOLDER = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
NAMESPACES = ('check', 'spill', 'frame', 'call', 'kind')
FACTS = '''SELECT f.name, i.address, coalesce(a.name, '') FROM instruction i JOIN function f ON f.id = i.function
    LEFT JOIN instruction_attribute a ON a.instruction = i.id'''
LEAST_CODE = 8  # instructions of a function that was sampled in its loop
# function → kinds of check in its loop
CXX = {'with_at': {'bounds'}, 'without_at': set(), 'with_assert': {'assert'}, 'with_throw': {'throw'}, 'with_branch': set(),
       'with_array': {'stack'}, 'with_calls': set()}
RUST = {'with_bounds': {'bounds'}, 'without_bounds': set(), 'with_iterators': set(), 'with_unwrap': {'null'},
        'with_sums': {'overflow'}, 'with_division': {'overflow'}}
GO = {'main.checked': {'bounds'}, 'main.ranged': set(), 'main.divided': {'overflow'}, 'main.asserted': {'type', 'stack'},
      'main.calls': {'stack'}}
number = 0


class Skip(Exception):
    pass


def check(name, faults):
    global number
    number += 1
    print('not ok' if faults else 'ok', number, '-', name)
    for fault in faults:
        print('#', fault)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def facts_of(program, rounds):
    """function → address → its attributes in the namespaces; of functions that were sampled."""
    done = run(LODE, 'record', '-F', '4000', '-o', 'x.recording', '--', program, str(rounds))
    if done.returncode == 0:
        done = run(LODE, 'import', 'x.recording', '-o', 'x.lode')
    if done.returncode != 0:
        raise Skip(done.stderr.strip().splitlines()[-1])
    facts = collections.defaultdict(lambda: collections.defaultdict(set))
    with sqlite3.connect('x.lode') as database:
        for function, address, name in database.execute(FACTS):
            own = facts[re.sub(r'^.*::|\(.*', '', function) if not function.startswith('main.') else function][address]
            if name.split(':')[0] in NAMESPACES:
                own.add(name)
    return facts


def counted(facts, function, attribute):
    return sum(attribute in names for names in facts[function].values())


def build(name, *words):
    made = run(*words)
    if made.returncode != 0:
        raise Skip(f'{name}: {made.stderr.strip().splitlines()[-1:]}')
    return made.stderr


def listed_spills(program, function):
    """Of clang's and gcc's listings: the addresses that access a slot of the frame which is stored and loaded."""
    listing = run('objdump', '-d', '--no-show-raw-insn', '-Mintel', f'--disassemble={function}', program).stdout
    slots = collections.defaultdict(lambda: [set(), False, False])
    depth = 0
    for line in listing.splitlines():
        found = re.match(r'\s*([0-9a-f]+):\s+(\w+)\s*(.*)', line)
        if not found:
            continue
        address, mnemonic, operands = int(found[1], 16), found[2], found[3]
        depth += {'push': 8, 'pop': -8}.get(mnemonic, 0)
        moved = re.match(r'rsp,0x([0-9a-f]+)$', operands)
        if moved and mnemonic in ('sub', 'add'):
            depth += int(moved[1], 16) * (1 if mnemonic == 'sub' else -1)
        place = re.search(r'\[rsp(?:([+-])0x([0-9a-f]+))?\]', operands)
        if not place or mnemonic == 'lea':
            continue
        slot = slots[(int(place[2], 16) if place[2] else 0) * (-1 if place[1] == '-' else 1) - depth]
        is_first = operands.index('[rsp') < operands.index(',')
        is_constant = re.search(r',0x[0-9a-f]+$', operands) is not None
        slot[0].add(address)
        slot[1] |= is_first and mnemonic != 'cmp' and not (mnemonic == 'mov' and is_constant)
        slot[2] |= not is_first or mnemonic != 'mov'
    return {address for addresses, is_stored, is_loaded in slots.values() if is_stored and is_loaded for address in addresses}


def spill_faults(compiler, level):
    said = build(compiler, compiler, '-g', level, *(['-Rpass-missed=regalloc'] if compiler == 'clang' else []),
                 os.path.join(FOLDER, 'spills.c'), '-o', 'program')
    facts = facts_of('./program', 12000000)
    found = {address for address, names in facts['many'].items() if names & {'spill:save', 'spill:reload'}}
    for function in ('few', 'array') if level != '-O0' else ('many', 'few', 'array'):
        for kind in ('spill:save', 'spill:reload'):
            if counted(facts, function, kind) > 0:
                yield f'{function} has {counted(facts, function, kind)} {kind}'
    if level == '-O0':
        return
    listed = listed_spills('program', 'many') & set(facts['many'])
    print(f'# many: {counted(facts, "many", "spill:save")} saves, {counted(facts, "many", "spill:reload")} reloads')
    if found != listed or not found:
        yield f'many: {sorted(map(hex, found ^ listed))} differ of {len(listed)} in the listing'
    remark = re.search(r'(\d+) spills .*? (\d+) reloads .*?(?:(\d+) folded reloads .*?)?generated in function', said)
    if remark:
        own = int(remark[1]), int(remark[2]) + int(remark[3] or 0)
        if own != (counted(facts, 'many', 'spill:save'), counted(facts, 'many', 'spill:reload')):
            yield f'many: the compiler says {own[0]} saves and {own[1]} reloads'


def check_faults(facts, expected):
    n_seen = 0
    for function, kinds in expected.items():
        own = {name for names in facts[function].values() for name in names if name.startswith('check:')}
        wanted = {f'check:{kind}' for kind in kinds}
        # a function with hardly a sample has less code that is known to run
        is_seen = len(facts[function]) >= LEAST_CODE
        n_seen += is_seen
        if not own <= wanted or (is_seen and own != wanted):
            yield f'{function} has {sorted(own)}, not {sorted(wanted)}'
    if 2 * n_seen < len(expected):
        yield f'only {n_seen} functions were sampled'


def call_faults(facts, function):
    calls = [names for names in facts[function].values() if 'kind:call' in names]
    small = [names for names in calls if 'call:small' in names]
    print(f'# {function}: {len(small)} of {len(calls)} calls are of small functions')
    if calls and not small:
        yield f'{function} has no call of a small function'


def cxx_faults(compiler, level, *options, without=()):
    build(compiler, compiler, '-g', level, '-fstack-protector-strong', *options, os.path.join(FOLDER, 'checks.cc'), '-o', 'program')
    facts = facts_of('./program', 12000)
    yield from check_faults(facts, {function: set() if function in without else kinds for function, kinds in CXX.items()})
    yield from call_faults(facts, 'with_calls')
    frames = [name for names in facts['with_array'].values() for name in names if name.startswith('frame:')]
    # a small array lies below the stack pointer otherwise; inferred executions may leave out an end
    if 'with_array' not in without and not {'frame:enter', 'frame:leave'} & set(frames):
        yield f'with_array has only {frames}'


def rust_faults(*options, without=()):
    build('rustc', 'rustc', '-O', '-g', *options, os.path.join(FOLDER, 'checks.rs'), '-o', 'program')
    yield from check_faults(facts_of('./program', 15000),
                            {function: set() if function in without else kinds for function, kinds in RUST.items()})


def go_faults(*options, without=()):
    os.environ.setdefault('GOCACHE', os.path.join(os.getcwd(), 'cache'))
    build('go', 'go', 'build', *options, '-o', 'program', os.path.join(FOLDER, 'checks.go'))
    facts = facts_of('./program', 40000)
    yield from check_faults(facts, {function: kinds - set(without) for function, kinds in GO.items()})
    yield from call_faults(facts, 'main.calls')


def cases():
    for compiler in ('gcc', 'clang'):
        for level in ('-O0', '-O1', '-O2', '-O3'):
            yield compiler, f'spills of {compiler} {level}', lambda c=compiler, o=level: spill_faults(c, o)
    for compiler in ('g++', 'clang++'):
        for level in ('-O1', '-O2'):
            yield compiler, f'checks of {compiler} {level}', lambda c=compiler, o=level: cxx_faults(c, o)
        yield (compiler, f'checks of {compiler} -O2 without assertions and stack protector',
               lambda c=compiler: cxx_faults(c, '-O2', '-DNDEBUG', '-fno-stack-protector', without=('with_assert', 'with_array')))
    yield 'rustc', 'checks of rustc', lambda: rust_faults('-C', 'overflow-checks=on')
    yield 'rustc', 'checks of rustc without overflow checks', lambda: rust_faults('-C', 'overflow-checks=off', without=('with_sums',))
    yield 'go', 'checks of go', go_faults
    yield 'go', 'checks of go without bounds', lambda: go_faults('-gcflags=-B', without=('bounds',))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for tool, name, faults in cases():
            if shutil.which(tool) is None:
                check(f'{name} # SKIP no {tool}', [])
                continue
            try:
                check(name, list(faults()))
            except Skip as reason:
                check(f'{name} # SKIP {reason}', [])
    print(f'1..{number}')


main()
