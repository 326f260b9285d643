#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No header is compiled into more than a quarter of the files of src/, itself or by other headers.

    scripts/count_includers.py             fails where one is
    scripts/count_includers.py HEADER...   into how many, and through which headers

Where a pointer is all that a header needs of a struct, 'typedef struct LodeX LodeX;' says so.
"""
import collections
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
# Nearly every file needs them: the ground below GLib's, and the words of a profile.
EXEMPT = ("base/", "machine/machine_figures.h", "model/index.h", "model/kinds.h")
# What a profile's code is, and the whole of a profile, which only those need who need several of its parts.
LIMITS = {"model/code.h": 230, "model/profile.h": 150}


def compiled_into(header, includers):
    """The .c files that a header is compiled into."""
    found, waiting = set(), [header]
    while waiting:
        new = includers[waiting.pop()] - found
        found |= new
        waiting += new
    return {name for name in found if name.endswith(".c")}


def main():
    includers = collections.defaultdict(set)
    paths = list(SRC.rglob("*.[ch]"))
    for path in paths:
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            includers[name].add(str(path.relative_to(SRC)))
    for header in sys.argv[1:]:
        print(f"{header}: compiled into {len(compiled_into(header, includers))} files")
        through = {name: len(compiled_into(name, includers)) for name in includers[header] if name.endswith(".h")}
        for name in sorted(through, key=lambda name: (-through[name], name)):
            print(f"    through {name}: {through[name]}")
    if len(sys.argv) > 1:
        return 0

    limit = sum(path.suffix == ".c" for path in paths) // 4
    headers = [name for name in includers if not name.startswith(EXEMPT)]
    counts = {name: len(compiled_into(name, includers)) for name in headers}
    wide = {name: count for name, count in counts.items() if count > LIMITS.get(name, limit)}
    for name in sorted(wide):
        print(f"src/{name} is compiled into {wide[name]} files, more than {LIMITS.get(name, limit)}: "
              f"scripts/count_includers.py {name}")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
