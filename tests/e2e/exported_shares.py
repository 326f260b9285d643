#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What share of the time in work() each way of calls has, by a file that lode exported.

    exported_shares.py FORMAT FILE      FORMAT: folded, pprof, firefox, callgrind

Prints "often seldom inlined" in percent. The readers are written from the formats' descriptions, not
from lode. Ways are told by the function that called work().
"""
import gzip
import json
import re
import sys


def folded(path):
    for line in open(path, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        yield stack.split(";")[1:], float(weight)


def fields(data):
    """A protobuf message: (number, value), a value an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size
        else:
            sys.exit(f"wire type {key & 7}")


def numbers(value):
    """Of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    result, current, shift = [], 0, 0
    for byte in value:
        current |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            result.append(current)
            current = shift = 0
    return result


def pprof(path):
    message = list(fields(gzip.open(path).read()))
    strings = [value.decode() for number, value in message if number == 6]
    assert strings[0] == ""
    functions = {}
    for number, value in message:
        if number == 5:
            function = dict(fields(value))
            functions[function[1]] = strings[function[2]]
    locations = {}
    for number, value in message:
        if number == 4:
            location = list(fields(value))
            lines = [dict(fields(line)) for key, line in location if key == 4]
            locations[dict(location)[1]] = [functions[line[1]] for line in lines]
    for number, value in message:
        if number == 2:
            ids = [i for key, part in fields(value) if key == 1 for i in numbers(part)]
            values = [i for key, part in fields(value) if key == 2 for i in numbers(part)]
            names = [name for i in ids for name in locations[i]]
            yield names[::-1], values[0]


def firefox(path):
    profile = json.load(open(path, encoding="utf-8"))
    strings = profile["shared"]["stringArray"]
    for thread in profile["threads"]:
        for name, table in thread.items():
            if isinstance(table, dict):
                for column, values in table.items():
                    if isinstance(values, list) and len(values) != table["length"]:
                        sys.exit(f"{name}.{column} has {len(values)} rows")
        stacks, frames, functions = (thread[t] for t in ("stackTable", "frameTable", "funcTable"))
        for at, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            names = []
            while at is not None:
                names.append(strings[functions["name"][frames["func"][stacks["frame"][at]]]])
                prefix = stacks["prefix"][at]
                assert prefix is None or prefix < at
                at = prefix
            yield names[::-1], weight


def callgrind(path):
    """The inclusive cost of calls of work(), as stacks of two."""
    names, function, callee, pending = {}, None, None, False
    for line in open(path, encoding="utf-8"):
        found = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if found:
            if found[3]:
                names[found[2]] = found[3].strip()
            if found[1] == "fn":
                function = names[found[2]]
            else:
                callee = names[found[2]]
        elif line.startswith("calls="):
            pending = True
        elif pending:
            yield [function, callee], float(line.split()[2])
            pending = False


def main():
    readers = {"folded": folded, "pprof": pprof, "firefox": firefox, "callgrind": callgrind}
    sums = {}
    for names, weight in readers[sys.argv[1]](sys.argv[2]):
        if "work" in names and names.index("work") > 0:
            caller = names[names.index("work") - 1]
            sums[caller] = sums.get(caller, 0) + weight
    # What is inlined is no function in callgrind's format.
    sums["inlined"] = sums.get("inlined", 0) + sums.get("main", 0)
    total = sum(sums.get(name, 0) for name in ("often", "seldom", "inlined"))
    print(*(round(100 * sums.get(name, 0) / total) if total else 0
            for name in ("often", "seldom", "inlined")))


main()
