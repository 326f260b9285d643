#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well executions with windows, and without, fit the exact ones of the same program.

    windows.py NAME INFERRED.lode WINDOWS.lode EXACT.lode
    windows.py --head

Error of branch probability: over the conditional branches that were executed in the exact profile,
the sum of n·|q − p| by the sum of n; n the exact executions, p the exact share of their most
frequent taken target, q the share of it in the other profile, a half where that has none. Mixed:
branches with 0.1 < p < 0.9. Overlap of executions: the sum of min(s, t) over the shares s, t of all
executions, by instruction. Only images that are files are compared.
"""
import os
import sqlite3
import sys
from collections import defaultdict

HEAD = (f"{'':8} {'error of branch probability':34} {'of mixed branches':34} {'overlap of executions':24}\n"
        f"{'':8} {'half':>6} {'inferr':>6} {'window':>6} {'both':>6} {'ratio':>6}  "
        f"{'half':>6} {'inferr':>6} {'window':>6} {'both':>6} {'ratio':>6}  "
        f"{'inferr':>6} {'window':>6} {'both':>6} {'steps':>8}")
INSTRUCTIONS = """SELECT i.id, g.path, i.address, i.count FROM instruction i
    JOIN function f ON f.id = i.function JOIN image g ON g.id = f.image WHERE g.kind = 'file'"""
BRANCHES = "SELECT instruction FROM instruction_attribute WHERE name = 'kind:branch'"
EDGES = "SELECT source, target, kind, count FROM all_edge WHERE kind IN ('taken', 'fall-through', 'call')"

STEPS = "SELECT source, target, steps FROM window_edge"


class Profile:
    def __init__(self, path):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        places = {i: (os.path.basename(os.path.realpath(image)), address)
                  for i, image, address, _ in database.execute(INSTRUCTIONS)}
        self.executions = {places[i]: count for i, _, _, count in database.execute(INSTRUCTIONS)}
        self.branches = {places[i] for (i,) in database.execute(BRANCHES) if i in places}
        self.taken, self.fallen = defaultdict(dict), {}
        for source, target, kind, count in database.execute(EDGES):
            if source not in places or target not in places or places[source] not in self.branches:
                continue
            if kind == 'fall-through':
                self.fallen[places[source]] = places[target], count
            else:
                ways = self.taken[places[source]]
                ways[places[target]] = ways.get(places[target], 0) + count
        self.steps = defaultdict(dict)
        has_windows = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'window_edge'")
        for source, target, steps in database.execute(STEPS) if has_windows.fetchone() else []:
            if source in places and target in places:
                self.steps[places[source]][places[target]] = steps

    def share(self, branch, target, fallen):
        """The share of a branch's executions that went to the target; without one, that did not fall."""
        executed = self.executions.get(branch, 0)
        if not executed > 0:
            return None
        if target is not None:
            return min(1, self.taken[branch].get(target, 0) / executed)
        return max(0, 1 - self.fallen.get(branch, (None, 0))[1] / executed)

    def step_share(self, branch, target, fallen):
        ways = self.steps.get(branch)
        if not ways:
            return None
        share = ways.get(target if target is not None else fallen, 0) / sum(ways.values())
        return share if target is not None else 1 - share


def overlap(left, right):
    a, b = sum(left.values()), sum(right.values())
    return sum(min(left[key] / a, right.get(key, 0) / b) for key in left) if a > 0 and b > 0 else 0.0


def errors(exact, guesses):
    """All and mixed: the error of each guess (share of a branch's executions, or None)."""
    sums, weights = ([0.0] * len(guesses), [0.0] * len(guesses)), [0.0, 0.0]
    for branch in exact.branches:
        executed = exact.executions[branch]
        if not executed > 0:
            continue
        ways = exact.taken.get(branch, {})
        target = max(ways, key=lambda way: (ways[way], way)) if ways else None
        fallen = exact.fallen.get(branch, (None, 0))[0]
        share = min(1, ways[target] / executed) if ways else 0
        for i in [0, 1] if 0.1 < share < 0.9 else [0]:
            weights[i] += executed
            for k, guess in enumerate(guesses):
                guessed = guess(branch, target, fallen)
                sums[i][k] += executed * abs((0.5 if guessed is None else guessed) - share)
    return [[s / w if w > 0 else 0 for s in row] for row, w in zip(sums, weights)]


def main():
    if sys.argv[1] == '--head':
        print(HEAD)
        return
    inferred, windows, exact = (Profile(path) for path in sys.argv[2:5])
    stepped = {place: sum(ways.values()) for place, ways in windows.steps.items()}
    print(f"{sys.argv[1]:8}", end='')
    for row in errors(exact, [lambda *_: None, inferred.share, windows.step_share, windows.share]):
        ratio = row[3] / row[1] if row[1] > 0 else 0
        print(''.join(f" {value:6.3f}" for value in row) + f" {ratio:6.2f} ", end='')
    print(f" {overlap(exact.executions, inferred.executions):6.3f}"
          f" {overlap(exact.executions, stepped):6.3f}"
          f" {overlap(exact.executions, windows.executions):6.3f} {sum(stepped.values()):8}")


if __name__ == "__main__":
    main()
