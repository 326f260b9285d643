#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causes in programs in Python: each spends most of its time in one line, and the first diagnosis
names this line, its cause, and a remedy towards the usual change. The profile of app.py is app.lode.
Prints TAP; skips where the kernel lets nobody sample, and where there is no CPython 3.11.

  tests/e2e/python_causes.py LODE
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"

# Name, cause, what the remedy names, statements before, and the costly line, which the loop
# executes again and again for a second.
PROGRAMS = [
    ("searched list", "linear-search", "set or dict",
     "names = ['name%d' % i for i in range(4000)]", "seen = 'name%d' % (3000 + n % 900) in names"),
    ("index of a tuple", "linear-search", "dict",
     "ports = tuple(range(5000, 9000))", "place = ports.index(8000 + n % 900)"),
    ("queue in a list", "service-string", "deque",
     "queue = list(range(60000))", "queue.append(queue.pop(0))"),
    ("sorting again", "service-sort", "heapq",
     "import random; prices = [random.random() for i in range(3000)]",
     "cheapest = sorted(prices, key=lambda p: -p)[:3]"),
    ("whole copies", "service-reflection", "what changes",
     "import copy; board = [[0] * 8 for i in range(8)]", "again = copy.deepcopy(board)"),
    ("formatted and not shown", "service-stdio", "isEnabledFor",
     "state = [1.5, 2.25, 3.125] * 9", "text = 'step %d: %s' % (n, state)"),
    ("pickled messages", "service-reflection", "less",
     "import pickle; rows = [{'id': i, 'name': str(i)} for i in range(300)]",
     "again = pickle.loads(pickle.dumps(rows))"),
    ("dates of a log", "service-time", "fromisoformat",
     "from datetime import datetime", "when = datetime.strptime('2024-02-03 04:05', '%Y-%m-%d %H:%M')"),
    ("patterns made of data", "service-regex", "re.compile",
     "import re", "found = re.match('id%d=([a-z]+)|x{2,%d}' % (n, 3 + n % 9), 'id7=abc')"),
    ("sets made anew", "service-allocator", "once",
     "values = ['v%d' % i for i in range(20000)]", "known = set(values)"),
]

TEXT = """import time
{before}
def work():
    n = 0
    end = time.perf_counter() + 1.2
    while time.perf_counter() < end:
        for k in range(4):
            n += 1
            {line}
work()
"""
COSTLY = 9


def run(lode, *arguments):
    return subprocess.run([lode, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)


def is_311():
    if not os.access(PYTHON, os.X_OK):
        return False
    done = subprocess.run([PYTHON, "-c", "import sys; print(sys.version_info[:2])"],
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() == "(3, 11)"


def fault_of(lode, name, cause, remedy, before, line):
    """What is wrong with the first diagnosis; None: nothing."""
    with open("app.py", "w", encoding="utf-8") as program:
        program.write(TEXT.format(before=before, line=line))
    done = run(lode, "run", "--", PYTHON, "app.py")
    if done.returncode != 0:
        return done.stderr[-400:]
    report = run(lode, "report", "app.lode", "--format", "json")
    diagnoses = json.loads(report.stdout)["diagnoses"]
    if not diagnoses:
        return f"{name}: no diagnosis"
    first = diagnoses[0]
    scope = first["scope"]
    place = f"{os.path.basename(scope.get('file') or '')}:{scope.get('line')}"
    if first["cause"] != cause or place != f"app.py:{COSTLY}" or not re.search(remedy, first["remedy"]):
        return f"{name}: {first['cause']} at {place}: {first['remedy']}"
    return None


def main():
    lode = os.path.realpath(sys.argv[1])
    if not is_311():
        print("1..0 # SKIP no CPython 3.11")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["HOME"] = folder
        if run(lode, "record", "-o", "true.data", "--", "/bin/true").returncode != 0:
            print("1..0 # SKIP nobody may sample here")
            return
        print(f"1..{len(PROGRAMS)}")
        for number, program in enumerate(PROGRAMS, 1):
            fault = fault_of(lode, *program)
            print(f"{'not ' if fault else ''}ok {number} - {program[0]}")
            if fault:
                print("# " + fault.replace("\n", "\n# "))


main()
