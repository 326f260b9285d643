#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Few headers of src/ are included by a single file beside their own source.

    scripts/check_single_users.py          check
    scripts/check_single_users.py --list   name them, and who includes them

A header that one file includes may be the inside of that file: then it is no file of its own. One
that a test includes, too, counts likewise. The limit may only be lowered.
"""
import pathlib
import re
import sys
from collections import defaultdict

LIMIT = 120
SRC = pathlib.Path(__file__).resolve().parent.parent / "src"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def main():
    users = defaultdict(set)
    for path in SRC.rglob("*.[ch]"):
        name = path.relative_to(SRC)
        for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if pathlib.Path(header).with_suffix("") != name.with_suffix(""):
                users[header].add(name)
    headers = sorted(str(path.relative_to(SRC)) for path in SRC.rglob("*.h"))
    single = [name for name in headers if len(users[name]) == 1]
    if sys.argv[1:] == ["--list"]:
        for name in single:
            print(f"{name} <- {min(users[name])}")
    if len(single) > LIMIT:
        print(f"{len(single)} of {len(headers)} headers have a single user; {LIMIT} may: "
              "make them part of it (scripts/check_single_users.py --list)")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
