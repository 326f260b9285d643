#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The OPTIONS of the man pages, from the tables that --help is made of.

    scripts/man_options.py LODE           writes them into man/lode-*.1
    scripts/man_options.py --check LODE   prints TAP: whether each page has them already

A page's section OPTIONS is what 'lode VERB --help' says; what there is to say beyond stands in
other sections of the page, by hand.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^\.Sh OPTIONS\n.*?(?=^\.Sh )", re.M | re.S)


def verbs():
    """Names of all verbs, as the table has them: "trace record"."""
    table = (ROOT / "src/cli/verb_table.c").read_text(encoding="utf-8")
    found = re.findall(r"^\t&lode_(?:verb|question)_([a-z_]+),$", table, re.M)
    return [name.replace("_", " ") for name in found]


def groups(text):
    """Of a --help: title, and rows of (letter, name, value, summary)."""
    found = []
    for line in text.splitlines():
        option = re.match(r"  (?:-(\S), |    )--([a-z0-9-]+)(?:=(\S+))?(?:\s+(\S.*))?$", line)
        if re.match(r"[A-Z].*:$", line) and not line.startswith("Usage:"):
            found.append((line[:-1], []))
        elif option and found:
            letter, name, value, summary = option.groups()
            found[-1][1].append([letter, name, value, summary or ""])
        elif line.startswith(" " * 32) and found and found[-1][1]:
            found[-1][1][-1][3] = (found[-1][1][-1][3] + " " + line.strip()).strip()
        elif line and found and (found[-1][0] == "Help" or not line.startswith(" ")):
            break
    return [(title, rows) for title, rows in found if rows and title != "Help"]


def prose(text):
    """As lines of mdoc that no macro begins."""
    text = (text[0].upper() + text[1:]).replace("\\", "\\e")
    text = re.sub(r"(?<!\w)--?(?=[a-z])|(?<!\S)--(?= )", lambda m: "\\-" * len(m.group()), text)
    text += "" if text.endswith(".") else "."
    for sentence in re.split(r"(?<=[a-z)]\.) (?=[A-Z])", text):
        for line in textwrap.wrap(sentence, 79, break_long_words=False, break_on_hyphens=False):
            yield ("\\&" if line[0] in ".'" else "") + line


def section(text):
    lines = [".Sh OPTIONS"]
    found = groups(text)
    for title, rows in found:
        if len(found) > 1 and title != "Options":
            lines.append(f".Ss {title}")
        lines.append(".Bl -tag -width Ds")
        for letter, name, value, summary in rows:
            short = f"Fl {letter} , " if letter else ""
            lines.append(f".It {short}Fl -{name}" + (f" Ns = Ns Ar {value}" if value else ""))
            lines += prose(summary)
        lines.append(".El")
    return "\n".join(lines) + "\n"


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    lode = pathlib.Path(arguments[-1]).resolve()
    names = verbs()
    if is_check:
        print(f"1..{len(names)}")
    for number, verb in enumerate(names, 1):
        path = ROOT / "man" / f"lode-{verb.replace(' ', '-')}.1"
        page = path.read_text(encoding="utf-8")
        said = subprocess.run([lode, *verb.split(), "--help=all"], capture_output=True, text=True,
                              check=True, stdin=subprocess.DEVNULL).stdout
        made = SECTION.sub(lambda _: section(said), page)
        if not is_check:
            path.write_text(made, encoding="utf-8")
            continue
        print(f"{'ok' if made == page else 'not ok'} {number} - {verb}")
        for line in difflib.unified_diff(page.splitlines(), made.splitlines(), lineterm="", n=0):
            print(f"# {line}")


main(sys.argv[1:])
