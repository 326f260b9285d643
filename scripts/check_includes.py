#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each file includes what it uses of src/base/prelude.h, which the build reads before every file.

    scripts/check_includes.py

Looks for functions, macros and types that the prelude's headers declare, and that none of the
headers does which a file includes, itself or by those of lode. CC chooses the compiler that reads
the system's headers.
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = "gio-2.0 gio-unix-2.0 json-glib-1.0 sqlite3 libzstd libelf libdw cairo hwloc ncursesw".split()
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)', re.M)
TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"(?<![\w.>])([A-Za-z]\w*)[ \t]*\(")
MACRO = re.compile(r"^#define ([A-Za-z]\w*)", re.M)
TYPE = re.compile(r"\btypedef\b[^;{}]*?\b(\w+)[ \t]*;|\}[ \t]*(\w+)[ \t]*;")
# Written as a call in a declaration, and no name.
KEYWORDS = {"asm", "alignof", "defined", "for", "if", "return", "sizeof", "switch", "typeof", "while"}


@cache
def flags():
    command = ["pkg-config", "--cflags", *PACKAGES]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@cache
def preprocessed(header):
    """All that a system header brings; "" where it is not installed."""
    command = [*(os.environ.get("CC") or "cc").split(), "-std=gnu17", "-D_GNU_SOURCE", *flags(), "-E", "-dD", "-P", "-"]
    return subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False).stdout


@cache
def read(path):
    """The code of a file without comments and strings, its own headers, and those of the system."""
    text = path.read_text(encoding="utf-8")
    own, system = [], []
    for kind, name in INCLUDE.findall(text):
        (system if kind == "<" else own).append(name)
    return TEXT.sub(" ", text), own, system


@cache
def found(name, folder):
    """A header of lode's that a file in this folder includes, or None."""
    for place in (ROOT / "src", folder, ROOT / "tests/unit", ROOT):
        if (place / name).exists():
            return (place / name).resolve()
    return None


def system_headers(path, seen):
    """Of a file and, through lode's own headers, of what it includes."""
    if path in seen:
        return set()
    seen.add(path)
    _, own, system = read(path)
    headers = set(system)
    for name in own:
        if header := found(name, path.parent):
            headers |= system_headers(header, seen)
    return headers


def main():
    prelude = [name for _, name in INCLUDE.findall((ROOT / "src/base/prelude.h").read_text(encoding="utf-8"))]
    sources = sorted(path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.c"))
    headers = {path: system_headers(path, set()) for path in sources}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(preprocessed, set(prelude).union(*headers.values())))

    declared = "\n".join(preprocessed(header) for header in prelude)
    types = {name for pair in TYPE.findall(declared) for name in pair if name and name[0] != "_"}
    named = set(MACRO.findall(declared)) | types
    called = set(CALL.findall(declared)) - KEYWORDS
    if "g_free" not in called or "uint64_t" not in types or "errno" not in named:
        sys.exit("check_includes: the headers of src/base/prelude.h were not understood")
    judged = named | called

    @cache
    def words_of(header):
        return judged.intersection(WORD.findall(preprocessed(header)))

    failed = False
    for path, included in headers.items():
        text, own, _ = read(path)
        # Programs that tests run are built without the prelude.
        if not own and "glib.h" not in included:
            continue
        known = set().union(*(words_of(header) for header in included))
        used = (set(WORD.findall(text)) & named) | (set(CALL.findall(text)) & called)
        if missing := sorted(used - known):
            failed = True
            print(f"{path.relative_to(ROOT)}: no header that it includes declares {', '.join(missing)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
