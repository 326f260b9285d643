#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No struct of src/ and tools/ has more than 30 fields.

    scripts/check_struct_fields.py          check
    scripts/check_struct_fields.py --list   name the largest ones, and their fields

A struct of many fields has several subjects: make each a struct of its own. Names that are declared
together are fields each (`uint32_t first, last;` are two); a struct inside another is one field, and
its own fields are counted alone; those of one without a name are the outer one's.
"""
import pathlib
import re
import sys

LIMIT = 30
ROOT = pathlib.Path(__file__).resolve().parent.parent

# Structs whose fields are one list that others made.
EXEMPT = {
    ("src/process/interpreters/hotspot_frames.h", "LodeHotspotLayout"): "memory of Java's",
    ("src/process/interpreters/perl_frames.h", "LodePerlLayout"): "memory of Perl's",
    ("src/process/interpreters/python_frames.h", "LodePythonLayout"): "memory of Python's",
    ("src/process/interpreters/ruby_frames.h", "LodeRubyLayout"): "memory of Ruby's",
}

COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVES = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
OPENING = re.compile(r"\b(?:struct|union)\b\s*(\w*)\s*\{")


def blank(match):
    """Keeps offsets and lines."""
    return re.sub(r"[^\n]", " ", match.group())


def closing(text, start):
    """The place of the bracket that closes the one before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def split(text, separator):
    """At separators that are in no brackets."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == separator and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def count_fields(body):
    fields = 0
    for member in split(body, ";"):
        inner = OPENING.search(member)
        if not member.strip() or member.lstrip().startswith("_Static_assert"):
            continue
        if inner:
            end = closing(member, inner.end())
            if not member[end + 1:].strip():
                fields += count_fields(member[inner.end():end])
                continue
            member = member[:inner.end()] + member[end:]
        fields += len(list(split(member, ",")))
    return fields


def structs_of(text):
    text = DIRECTIVES.sub(blank, COMMENTS.sub(blank, text))
    for match in OPENING.finditer(text):
        end = closing(text, match.end())
        name = match.group(1) or re.match(r"\s*(\w*)", text[end + 1:]).group(1)
        line = text.count("\n", 0, match.start()) + 1
        yield name, line, count_fields(text[match.end():end])


def main():
    found = []
    for folder in ("src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for name, line, fields in structs_of(path.read_text(encoding="utf-8")):
                found.append((fields, str(path.relative_to(ROOT)), line, name))
    if sys.argv[1:] == ["--list"]:
        for fields, path, line, name in sorted(found, reverse=True)[:40]:
            print(f"{fields:3} {path}:{line} {name}")
        return 0
    large = [it for it in found if it[0] > LIMIT]
    failed = False
    for fields, path, line, name in large:
        if (path, name) not in EXEMPT:
            failed = True
            print(f"{path}:{line}: struct {name} has {fields} fields; {LIMIT} may be: "
                  "make structs of its subjects")
    for path, name in sorted(EXEMPT.keys() - {(it[1], it[3]) for it in large}):
        failed = True
        print(f"scripts/check_struct_fields.py: struct {name} of {path} needs no exemption")
    return failed


if __name__ == "__main__":
    sys.exit(main())
