#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Which program shows the text of lode annotate on a terminal, and that none does elsewhere.
# Prints TAP.
#
#   tests/e2e/pager.py LODE FLOW
import os
import pty
import subprocess
import sys
import tempfile

lode, flow = map(os.path.abspath, sys.argv[1:3])
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
subprocess.run([lode, "import", flow, "-o", "x.lode"], check=True, stdout=subprocess.DEVNULL)
MARKED = "sed 's/^/> /'"
number = 0


def on_terminal(words, **settings):
    """What the command writes to a terminal, and its exit status."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "dumb", **settings}
    child, screen = pty.fork()
    if child == 0:
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
    return text.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check(name, is_so, found):
    global number
    number += 1
    print(f"{'' if is_so else 'not '}ok {number} - {name}")
    if not is_so:
        print("".join(f"# {line}\n" for line in str(found).split("\n")), end="")


words = ["annotate", "x.lode", "function", "sum"]
plain, _ = on_terminal(words, PAGER="")
check("an empty PAGER is none", plain.startswith("(unknown program)"), plain)
for name, settings in {"cat": {"PAGER": "cat"}, "LODE_PAGER": {"LODE_PAGER": "", "PAGER": MARKED}}.items():
    text, _ = on_terminal(words, **settings)
    check(f"{name} is none", text == plain, text)
text, status = on_terminal(words, PAGER=MARKED)
paged = "".join(f"> {line}\n" for line in plain.split("\n")[:-1])
check("PAGER shows the text", (text, status) == (paged, 0), text)
text, _ = on_terminal(words, PAGER="false", LODE_PAGER=MARKED)
check("LODE_PAGER is before it", text == paged, text)
text, _ = on_terminal([*words, "--no-pager"], PAGER=MARKED)
check("--no-pager", text == plain, text)
text, _ = on_terminal([*words, "--format", "csv"], PAGER=MARKED)
check("only text is paged", text.startswith("place,function,"), text)
text, status = on_terminal(words, PAGER="head -n 1")
check("a pager that is left early is no failure", (text.count("\n"), status) == (1, 0), text)
text, status = on_terminal(["annotate", "x.lode", "function", "none"], PAGER=MARKED)
check("an error is not paged", status == 1 and text.startswith("lode annotate: "), text)
text = subprocess.run(
    [lode, *words], env={**os.environ, "PAGER": MARKED, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True
).stdout
check("a pipe is not paged", "\n1. sum  " in text and ">" not in text, text)
print(f"1..{number}")
