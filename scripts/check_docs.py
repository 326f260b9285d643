#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents can be read, lead where they say, and count what there is. Prints TAP.

    scripts/check_docs.py

Word limits of README.md, of each page and of all; a first paragraph that says whom a page serves;
links and mentions of pages in the whole tree; figures that name a count of something in the tree.
"""
import os
import pathlib
import re
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_WORDS = {"README.md": 1200, "a page of docs/": 4000, "docs/ and README.md": 70000}
# These mention pages of other projects.
OF_OTHERS = {"tools/qemu_plugin/qemu_plugin_interface.h"}
# A figure before one of these must be the count here; FIGURE stands for it.
FIGURE = r"(\d[\d,]*)"


def words(path):
    return len((ROOT / path).read_text(encoding="utf-8").split())


def rows(path, pattern):
    return len(re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M))


def tracked():
    """Names and contents of the tree's text files: those of git, or without it all of them."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    for name in names:
        if name and (ROOT / name).is_file():
            try:
                yield name, (ROOT / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(text):
    """Those that GitHub gives the headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        kept = "".join(c for c in plain.lower()
                       if c in " -_" or unicodedata.category(c)[0] in "LN")
        found.add(kept.replace(" ", "-"))
    return found


def long_pages(files):
    pages = [name for name in files if re.fullmatch(r"docs/.*\.md", name)]
    counts = {name: words(name) for name in ["README.md", *pages]}
    limits = {name: MOST_WORDS["a page of docs/"] for name in pages}
    limits["README.md"] = MOST_WORDS["README.md"]
    for name, limit in limits.items():
        if counts[name] > limit:
            yield f"{name} has {counts[name]} words, more than {limit}"
    total, limit = sum(counts.values()), MOST_WORDS["docs/ and README.md"]
    if total > limit:
        yield f"docs/ and README.md have {total} words, more than {limit}"


def aimless_pages(files):
    for name, text in files.items():
        if re.fullmatch(r"docs/.*\.md", name) and not re.match(r"# [^\n]+\n\nFor ", text):
            yield f"{name} does not begin with 'For' those whom it serves"


def broken_links(files):
    for name, text in files.items():
        if not name.endswith(".md"):
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not (ROOT / path).exists():
                yield f"{name}: {target} is not there"
            elif anchor and path in files and anchor not in anchors(files[path]):
                yield f"{name}: {target}: no such heading"


def absent_mentions(files):
    for name, text in files.items():
        if name in OF_OTHERS:
            continue
        for mention in re.findall(r"(?<![\w./-])docs/[\w/.-]*\w", text):
            if not (ROOT / mention).exists():
                yield f"{name}: {mention} is not there"


def wrong_figures(files):
    """Each row: where the figure stands, and what it counts."""
    pairs = rows("bench/fixes/fixes.tsv", r"^[^\t#]+\t") - 1
    figures = [(r"FIGURE (?:programs before and after|of `bench/fixes`)", pairs)]
    for name, text in files.items():
        if not re.fullmatch(r"(docs|man)/.*|[A-Z]+\.md|bench/(fixes/)?README\.md", name):
            continue
        for pattern, count in figures:
            for figure in re.findall(pattern.replace("FIGURE", FIGURE), text):
                if int(figure.replace(",", "")) != count:
                    yield f"{name}: {figure} where there are {count}: {pattern}"


def main():
    files = dict(tracked())
    checks = {
        "pages are short": long_pages,
        "pages say whom they serve": aimless_pages,
        "links lead somewhere": broken_links,
        "mentioned pages exist": absent_mentions,
        "figures are counts": wrong_figures,
    }
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks.items(), 1):
        found = list(check(files))
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        for line in found:
            print(f"# {line}")
    return 0


sys.exit(main())
