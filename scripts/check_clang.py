#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets clang look for warnings in everything that a build directory compiles, without code being made.

    scripts/check_clang.py DIRECTORY [BUILT_BY_CLANG]

Sources that the second directory, which clang has built, compiles as well are left out.

The commands are those of compile_commands.json, with clang in place of their compiler and -Werror;
what differs in nothing but the name of its output is looked at once. Exit status 0 when clang finds
nothing.
"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Outputs; and headers that the build has compiled, in the form of its own compiler.
WITH_VALUE = ("-o", "-MF", "-MQ", "-MT", "-include", "-include-pch")
# Options of code generation, of which clang would say that -fsyntax-only leaves them unused.
DROPPED = ("-MD", "-MMD", "-c", "-pipe", "-fpch-preprocess")


def clang_command(words):
    """The same look at the source by clang, without output."""
    while os.path.basename(words[0]) in ("ccache", "sccache"):
        words = words[1:]
    is_cxx = os.path.basename(words[0]).split("-")[0] in ("c++", "g++", "clang++")
    command = ["clang++" if is_cxx else "clang", "-fsyntax-only", "-Werror"]
    skips = False
    for word in words[1:]:
        if skips or word in DROPPED:
            skips = False
        elif word in WITH_VALUE:
            skips = True
        # The folder that the build makes for the objects of a target; nothing is generated there.
        elif not (word.startswith("-I") and word.endswith(".p")):
            command.append(word)
    return tuple(command)


def entries_of(directory):
    with open(os.path.join(directory, "compile_commands.json"), encoding="utf-8") as file:
        return json.load(file)


def source(entry):
    return os.path.normpath(os.path.join(entry["directory"], entry["file"]))


def main(directory, built_by_clang=None):
    seen = {source(entry) for entry in entries_of(built_by_clang)} if built_by_clang else set()
    commands = {
        (entry["directory"], clang_command(shlex.split(entry["command"]))): None
        for entry in entries_of(directory)
        if source(entry) not in seen and not entry["file"].endswith(".S")
    }

    def look(key):
        return subprocess.run(key[1], cwd=key[0], stderr=subprocess.PIPE, check=False)

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(look, commands):
            sys.stderr.buffer.write(result.stderr)
            failed += result.returncode != 0
    print(f"clang looked at {len(commands)} sources, {failed} with warnings")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
