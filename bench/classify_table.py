#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of bench/classify.sh, from what `lode classify --format json` said.

    classify_table.py DIRECTORY NAME:ROLE:HOW…

HOW the foreign routine came into the program: linked or preloaded.
"""
import collections
import json
import sys

directory = sys.argv[1]
words = [word.split(":") for word in sys.argv[2:]]
names = [name for name, role, how in words]
roles = {name: role for name, role, how in words}
hows = {name: how for name, role, how in words}


def read(name, n):
    with open(f"{directory}/{name}.{n}.json") as file:
        return json.load(file)


def is_right(found, name):
    return found["signatures"][0]["signature"] == name


def without(found, name):
    """The nearest, had the workload no signature."""
    return next(match for match in found["signatures"] if match["signature"] != name)


rows = {}
print("workload         rule  right known  distance    limit  nearest other      without  rest %        placed %      foreign %  placed  how        where")
for name in names:
    found = [read(name, n) for n in range(1, 5)]
    own = [next(m for m in f["signatures"] if m["signature"] == name) for f in found]
    other = [without(f, name) for f in found]
    foreign = read(f"foreign-{name}", 4)
    place = foreign["places"][0] if foreign["places"] else {"function": "-"}
    rows[name] = {
        "right": sum(is_right(f, name) for f in found),
        "known": sum(f["workload"] == name for f in found),
        "none": sum(o["distance"] > o["limit"] for o in other),
        "clean": max(f["rest_placed"] for f in found),
        "foreign": foreign["rest_placed"],
        "is_found": foreign["has_rest"] and place.get("image", "").endswith("foreign.so"),
    }
    row = rows[name]
    print(f"{name:16s} {roles[name]:5s} {row['right']}/4   {row['known']}/4"
          f"   {min(m['distance'] for m in own):.2f}-{max(m['distance'] for m in own):.2f}"
          f"  {min(m['limit'] for m in own):.2f}-{max(m['limit'] for m in own):.2f}"
          f"  {min(m['distance'] for m in other):.2f} {collections.Counter(m['signature'] for m in other).most_common(1)[0][0]:14s}"
          f" {row['none']}/4   {100 * min(f['rest'] for f in found):5.2f}-{100 * max(f['rest'] for f in found):5.2f}"
          f"  {100 * row['clean']:6.2f}        {100 * foreign['rest']:6.2f}   {100 * row['foreign']:6.2f}  {hows[name]:9s}  {place['function'][:20]}")

print("\nclassified as (rows: what it was)")
wrong = collections.Counter()
for name in names:
    for n in range(1, 5):
        wrong[name, read(name, n)["signatures"][0]["signature"]] += 1
width = max(map(len, names))
print(" " * width + " " + " ".join(f"{i + 1:2d}" for i in range(len(names))))
for i, name in enumerate(names):
    print(f"{name:{width}s} " + " ".join(f"{wrong[name, other] or '·':>2}" for other in names) + f"  {i + 1}")

for role in sorted(set(roles.values())) + ["all"]:
    chosen = [rows[name] for name in names if role in (roles[name], "all")]
    n = len(chosen)
    print(f"\n{role}: {n} workloads, {sum(r['right'] for r in chosen)} of {4 * n} nearest to their own, "
          f"{sum(r['known'] for r in chosen)} within its limit; "
          f"{sum(r['none'] for r in chosen)} of {4 * n} are none of the others; "
          f"foreign routine found in {sum(r['is_found'] for r in chosen)} of {n}; "
          f"rest above 2 % in {sum(r['clean'] >= 0.02 for r in chosen)} clean")
