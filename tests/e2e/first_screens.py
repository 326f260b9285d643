#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# The first screen on a terminal of 80 columns and 25 lines, of recordings of other machines, where
# they are, of flow graphs, and of programs that are recorded here. What is to be held by each of
# them stands in RULES. Prints TAP.
#
#   tests/e2e/first_screens.py LODE FLOWS RECORDINGS PROGRAM…
#
# FLOWS is a folder of *.flow; RECORDINGS one of *.zst, which may be missing; each PROGRAM is C.
import fcntl
import glob
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

LINES, COLUMNS = 25, 80
lode, flows, recordings = map(os.path.abspath, sys.argv[1:4])
programs = [os.path.abspath(one) for one in sys.argv[4:]]
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
number = 0


def on_terminal(words):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "LODE_PROGRESS": "0"}
    child, screen = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        # notes are before the screen
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execve(lode, [lode, *words], environment)
    text = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.waitpid(child, 0)
    return text.decode().replace("\r\n", "\n")


def titles_of_tables(lines):
    """The line of titles of each table: it names self."""
    return [line for line in lines if re.match(r" *self\b", line)]


def evidence_repeats(lines):
    """Whether the third line of a diagnosis has the names that its title ends with."""
    for at, line in enumerate(lines):
        title = re.match(r"D\d+ +saves .*: ([A-Za-z_][\w:]+)", line)
        if title and any(title[1] in below for below in lines[at + 2 : at + 3]):
            return True
    return False


RULES = {
    "25 lines": lambda lines: len(lines) <= LINES,
    "80 columns": lambda lines: max(map(len, lines)) <= COLUMNS,
    "no sign that it does not explain": lambda lines: not re.search("[⟪⟫⟨⟩]", "\n".join(lines)),
    "no line is cut inside a word": lambda lines: not any(
        re.search(r"\w…$", line) for line in lines if re.match(r"D\d|  →|[A-Z]", line)
    ),
    "each column has a name": lambda lines: all("function" in one or "graph" in one for one in titles_of_tables(lines)),
    "one diagnosis is not hidden": lambda lines: not any(line.startswith("1 more") for line in lines),
    "the first diagnosis is whole": lambda lines: not any(line.startswith("D") for line in lines)
    or any(line.startswith("  →") for line in lines),
    "evidence does not repeat the title": lambda lines: not evidence_repeats(lines),
    "nothing of lode's own": lambda lines: not any("lode's own" in line or "no PMU" in line for line in lines),
    "addresses in a range have no size": lambda lines: not any("TiB" in line for line in lines),
}


def check(name, profile):
    global number
    number += 1
    text = on_terminal(["report", profile])
    lines = text.split("\n")[:-1]
    broken = [rule for rule, holds in RULES.items() if not holds(lines)] if lines else ["an answer"]
    print(f"{'not ' if broken else ''}ok {number} - {name}")
    for line in [*broken, *(lines if broken else [])]:
        print(f"# {line}")


def import_of(path, profile):
    done = subprocess.run([lode, "import", path, "-o", profile], capture_output=True, text=True)
    return done.returncode == 0


for path in sorted(glob.glob(flows + "/*.flow")):
    if import_of(path, "x.lode"):
        check(os.path.basename(path), "x.lode")
        os.remove("x.lode")
for path in sorted(glob.glob(recordings + "/**/*.zst", recursive=True)):
    name = os.path.basename(path)[: -len(".zst")]
    if shutil.which("zstd") is None or subprocess.run(["zstd", "-dqf", path, "-o", name]).returncode != 0:
        continue
    if import_of(name, "x.lode"):
        check(name, "x.lode")
        os.remove("x.lode")
for path in programs:
    name = os.path.basename(path)
    made = subprocess.run(["cc", "-O2", "-g", "-pthread", path, "-o", "program", "-lm"], capture_output=True)
    if made.returncode == 0 and subprocess.run(
        [lode, "run", "-o", "x.lode", "--", "./program"], capture_output=True
    ).returncode == 0:
        check(name, "x.lode")
        os.remove("x.lode")
print(f"1..{number}")
