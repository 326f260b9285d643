#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets clang look for warnings in everything that a build directory compiles, without code being made.

    scripts/check_clang.py DIRECTORY [BUILT_BY_CLANG]

The second directory was made for clang: what it has compiled is left out, and its other sources are
looked at as it would compile them, with the headers that it has compiled.

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

OUTPUTS = ("-o", "-MF", "-MQ", "-MT")
# Headers that the build has compiled, in the form of its own compiler.
COMPILED_HEADERS = ("-include", "-include-pch")
# Options of code generation, of which clang would say that -fsyntax-only leaves them unused.
DROPPED = ("-MD", "-MMD", "-c", "-pipe", "-fpch-preprocess")


def clang_command(words, keeps_headers):
    """The same look at the source by clang, without output."""
    with_value = OUTPUTS if keeps_headers else OUTPUTS + COMPILED_HEADERS
    while os.path.basename(words[0]) in ("ccache", "sccache"):
        words = words[1:]
    is_cxx = os.path.basename(words[0]).split("-")[0] in ("c++", "g++", "clang++")
    command = ["clang++" if is_cxx else "clang", "-fsyntax-only", "-Werror"]
    skips = False
    for word in words[1:]:
        if skips or word in DROPPED:
            skips = False
        elif word in with_value:
            skips = True
        # The folder that the build makes for the objects of a target; only headers are compiled there.
        elif keeps_headers or not (word.startswith("-I") and word.endswith(".p")):
            command.append(word)
    return tuple(command)


def entries_of(directory):
    with open(os.path.join(directory, "compile_commands.json"), encoding="utf-8") as file:
        return json.load(file)


def source(entry):
    return os.path.normpath(os.path.join(entry["directory"], entry["file"]))


def is_compiled(entry):
    return os.path.exists(os.path.join(entry["directory"], entry["output"]))


def main(directory, built_by_clang=None):
    own = entries_of(built_by_clang) if built_by_clang else []
    seen = {source(entry) for entry in own}
    looked_at = [(entry, True) for entry in own if not is_compiled(entry)]
    looked_at += [(entry, False) for entry in entries_of(directory) if source(entry) not in seen]
    commands = {
        (entry["directory"], clang_command(shlex.split(entry["command"]), is_own)): None
        for entry, is_own in looked_at
        if not entry["file"].endswith(".S")
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
