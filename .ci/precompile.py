#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles prelude.h for a build directory, once for each set of options that its files have.

  .ci/precompile.py DIRECTORY

The copies are in prelude.h.gch, where gcc and clang look for one that fits when they are told
'-include …/prelude.h'. gcc reads the header itself where none does; clang demands one.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

directory = sys.argv[1]
header = pathlib.Path(__file__).resolve().parent / "prelude.h"
folder = header.with_name(header.name + ".gch")


def options(command):
    """What the compiler is told about a file, but for the file, and for where programs are."""
    words = iter(word for word in shlex.split(command) if word != "ccache")
    for word in words:
        if word in ("-o", "-MF", "-MQ", "-c", "-include"):
            next(words)
        elif word != "-MD" and not (word.startswith("-D") and "/" in word):
            yield word


def sort_of(words):
    """Sets that differ in directories to search alone are one, unless GLib is in but one of them."""
    return tuple(w for w in words if not w.startswith("-I")), any("glib-2.0" in w for w in words)


with open(f"{directory}/compile_commands.json", encoding="utf-8") as commands:
    words = [list(options(c["command"])) for c in json.load(commands) if c["file"].endswith(".c")]
sets = {sort_of(w): w for w in words}
folder.mkdir(exist_ok=True)
name = os.path.basename(os.path.normpath(directory))
for old in folder.glob(f"{name}-*"):
    old.unlink()


def compile_for(number, words):
    output = folder / f"{name}-{number}.gch"
    subprocess.run([*words, "-x", "c-header", "-c", header, "-o", output], cwd=directory, check=True)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(compile_for, range(len(sets)), sets.values()))
