#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well the executions of a sampled profile fit those of an exact one of the same program.

    inferred_overlap.py SAMPLED.lode EXACT.lode

Overlap: the sum of min(p, q) over the shares p, q of all executions, 0 ... 1, for blocks (of the
exact profile; each weighs by its executions) and for the edges out of branches and jumps. Naive:
the samples of a block by its instructions as its count, and an even split at each branch. Waits:
the samples at what waited (docs/reference/waiting.md), by block, beside those that the exact edges charge; the
naive way is to divide them by the inferred edges. Only images that both profiles have a file of are
compared.
"""
import sqlite3
import sys
from collections import defaultdict

BLOCKS = """SELECT g.path, b.address, b.end_address, b.count FROM block b
    JOIN function f ON f.id = b.function JOIN image g ON g.id = f.image WHERE g.kind = 'file'"""
INSTRUCTIONS = """SELECT g.path, i.address, i.count, coalesce(c.value, 0) FROM instruction i
    JOIN function f ON f.id = i.function JOIN image g ON g.id = f.image
    LEFT JOIN cost c ON c.instruction = i.id
        AND c.event = (SELECT value FROM meta WHERE key = 'weight_event')
    WHERE g.kind = 'file'"""
EDGES = """SELECT g.path, s.address, t.address, e.count FROM all_edge e
    JOIN instruction s ON s.id = e.source JOIN instruction t ON t.id = e.target
    JOIN function f ON f.id = s.function JOIN image g ON g.id = f.image
    JOIN instruction_attribute a ON a.instruction = s.id AND a.name IN ('kind:branch', 'kind:jump')
    WHERE g.kind = 'file' AND e.kind IN ('fall-through', 'taken', 'jump')
        AND s.function = t.function"""


WAYS = """SELECT g.path, s.address, h.path, t.address, e.kind, e.count FROM all_edge e
    JOIN instruction s ON s.id = e.source JOIN instruction t ON t.id = e.target
    JOIN function f ON f.id = s.function JOIN image g ON g.id = f.image
    JOIN function k ON k.id = t.function JOIN image h ON h.id = k.image
    WHERE g.kind = 'file' AND h.kind = 'file' AND e.kind <> 'repeat' AND e.count > 0"""
SAMPLES = """SELECT g.path, i.address, c.value FROM instruction i
    JOIN function f ON f.id = i.function JOIN image g ON g.id = f.image
    JOIN cost c ON c.instruction = i.id JOIN event e ON e.id = c.event
    WHERE g.kind = 'file' AND e.name = ?"""


def charge(samples, executions, profile):
    """Moves samples along a profile's edges, as docs/reference/waiting.md says, but for string instructions."""
    ways = defaultdict(list)
    for path, source, target_path, target, kind, count in profile.execute(WAYS):
        ways[target_path, target].append(((path, source), kind, count))
    charged = defaultdict(float)
    for place, weight in samples.items():
        returned = sum(c for _, kind, c in ways[place] if kind == 'return')
        fallen = sum(c for _, kind, c in ways[place] if kind == 'fall-through')
        shares = [(source, c * (max(fallen - returned, 0) / fallen if kind == 'fall-through' else 1))
                  for source, kind, c in ways[place]]
        whole = max(sum(c for _, c in shares), executions.get(place, 0))
        for source, count in shares:
            charged[source] += weight * count / whole
        charged[place] += weight * (1 - sum(c for _, c in shares) / whole if whole > 0 else 1)
    return charged


def by_block(values, block_of):
    blocks = defaultdict(float)
    for place, value in values.items():
        blocks[block_of.get(place, place)] += value
    return blocks


def overlap(left, right):
    """Of two tables of amounts, over all keys."""
    a, b = sum(left.values()), sum(right.values())
    if a == 0 or b == 0:
        return 0.0
    return sum(min(left[key] / a, right.get(key, 0) / b) for key in left)


def main():
    sampled, exact = (sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in sys.argv[1:3])
    executions, samples = {}, {}
    for path, address, count, weight in sampled.execute(INSTRUCTIONS):
        executions[path, address] = count
        samples[path, address] = weight
    n_instructions = {}
    block_of = {}
    true_blocks, naive_blocks, inferred_blocks = {}, defaultdict(float), {}
    starts = defaultdict(list)
    for path, address, _, count in exact.execute(BLOCKS):
        if count > 0:
            true_blocks[path, address] = count
            starts[path].append(address)
    for path, address, end, count in exact.execute(BLOCKS):
        if count > 0:
            inferred_blocks[path, address] = executions.get((path, address), 0)
            for at in range(address, end):
                block_of[path, at] = (path, address)
    for path, address, _, _ in exact.execute(INSTRUCTIONS):
        block = block_of.get((path, address))
        n_instructions[block] = n_instructions.get(block, 0) + 1
    for place, weight in samples.items():
        block = block_of.get(place)
        if block is not None:
            naive_blocks[block] += weight / n_instructions[block]
    true_edges = {(p, s, t): c for p, s, t, c in exact.execute(EDGES)}
    inferred_edges = {(p, s, t): c for p, s, t, c in sampled.execute(EDGES)}
    ways = defaultdict(int)
    for path, source, _ in true_edges:
        ways[path, source] += 1
    naive_edges = {(p, s, t): naive_blocks.get(block_of.get((p, s)), 0) / ways[p, s]
                   for p, s, t in true_edges}
    print(f"{'':8} {'naive':>8} {'inferred':>8}")
    print(f"{'blocks':8} {overlap(true_blocks, naive_blocks):8.4f} "
          f"{overlap(true_blocks, inferred_blocks):8.4f}")
    print(f"{'edges':8} {overlap(true_edges, naive_edges):8.4f} "
          f"{overlap(true_edges, inferred_edges):8.4f}")
    late = sampled.execute("SELECT name FROM event WHERE name LIKE '%:cause'").fetchone()
    if late is None:
        return
    seen, waited = ({(path, address): value for path, address, value in sampled.execute(SAMPLES, (name,))}
                    for name in (late[0].removesuffix(":cause"), late[0]))
    counts = {(path, address): count for path, address, count, _ in exact.execute(INSTRUCTIONS)}
    true_waits = by_block(charge(seen, counts, exact), block_of)
    print(f"{'waits':8} {overlap(true_waits, by_block(charge(seen, executions, sampled), block_of)):8.4f} "
          f"{overlap(true_waits, by_block(waited, block_of)):8.4f}")


if __name__ == "__main__":
    main()
