# SPDX-License-Identifier: MIT
"""What lode says of a program of many processes, whose number is known.

    known_programs.py PROGRAM NUMBER LEAST PATH PARENT TITLE

Reads programs.json, waits.json and report.json; prints a line for each fault. Times by the clock
depend on how busy the machine is, those on processors less; numbers of processes are exact, but where
many start at once and records of some are lost: these are "(unknown)".
"""
import json
import sys


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def main():
    program, number, least, path, parent, title = sys.argv[1:]
    rows = {one["name"]: one for one in read("programs.json")["programs"]}
    if program not in rows:
        print(f"no {program} among {sorted(rows)}")
        return
    row = rows[program]
    started, lost = row["started"], rows.get("(unknown)", {"started": 0})["started"]
    is_whole = started == int(number) if parent != "*" else 0.9 * int(number) - lost <= started <= int(number)
    if not is_whole:
        print(f"{started} × {program} and {lost} unknown, not {number}")
    # Where switches are recorded for a part of the time, that stands for all.
    if row["running_seconds"] < 0.7 * float(least) * min(started / int(number), 1):
        print(f"{row['running_seconds']:.3f} s on processors, not {least} s")
    waits = read("waits.json")
    if not waits["has_path"]:
        print("no critical path")
    if row["path_seconds"] < float(path):
        print(f"{row['path_seconds']:.3f} s on the path, not {path} s")
    if row["alone_seconds"] > row["running_seconds"] * 1.001:
        print(f"{row['alone_seconds']:.3f} s alone, of {row['running_seconds']:.3f} s")
    children = [one for one in waits["waits"] if one["reason"] == "child"]
    if parent != "*" and not any(name.startswith(parent) for one in children for name in one["thread_names"]):
        print(f"no wait of {parent} for a child: {[(one['object'], one['thread_names']) for one in children]}")
    titles = [one["title"] for one in read("report.json")["diagnoses"] if one["cause"] in ("wait-child", "repeated-command")]
    if title == "-" and titles:
        print(f"diagnoses {titles}, not none")
    if title == "!" and any(one.startswith("the same") for one in titles):
        print(f"diagnoses {titles}, of which one is of the same command")
    if title not in "-*!" and not any(one.startswith(title) and program in one for one in titles):
        print(f"diagnoses {titles}, none is '{title}'")


main()
