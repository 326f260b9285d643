# SPDX-License-Identifier: MIT
"""What lode says of known_waits against what it measured of itself.

    known_waits.py KIND TRUTH WAITS.json REPORT.json

Prints a line for each fault: the costliest wait of the kind must have its object, function and,
within the larger of 3 % of clock × threads and 5 % of the truth, its time; one of its causes is
among the diagnoses; in which order depends on how busy the machine is.
"""
import json
import re
import sys

# reason, object, function, holder, causes
KINDS = {
    "lock": ("lock", "table_lock", "update_table", "hold_table|compute", "wait-lock"),
    "condition": ("condition", "stock_ready", "take_stock", None, "wait-serial"),
    "join": ("join", ".", "await_sum", None, "wait-serial"),
    "child": ("child", ".", "await_children", None, "wait-child"),
    "sleep": ("sleep", ".", "nap", None, "wait-sleep"),
    "sync": ("sync", r"known\.notes", "save_notes", None, "wait-sync"),
    "pipe": ("pipe", ".", "send_rows", None, "wait-pipe wait-serial"),
    "processor": ("processor", ".", "compute|draw", None, "wait-processor"),
}


def main():
    kind, truth_file, waits_file, report_file = sys.argv[1:]
    reason, thing, function, holder, causes = KINDS[kind]
    with open(truth_file, encoding="utf-8") as file:
        _, clock, threads, waited = file.readline().split()
    clock, threads, waited = float(clock), int(threads), float(waited)
    with open(waits_file, encoding="utf-8") as file:
        waits = json.load(file)
    with open(report_file, encoding="utf-8") as file:
        diagnoses = [one["cause"] for one in json.load(file)["diagnoses"]]
    busy = [one for one in waits["waits"] if not one["idle"]]
    rows = [one for one in busy if one["reason"] == reason]
    if not rows:
        print(f"no wait of reason {reason}: {[(one['reason'], one['seconds']) for one in busy]}")
        return
    first = rows[0]
    for what, pattern in (("object", thing), ("function", function)):
        if not re.search(pattern, first[what] or ""):
            print(f"{what} {first[what]}, not {pattern}")
    if holder and not re.search(holder, (first["holder"] or {}).get("function") or ""):
        print(f"holder {first['holder']}, not {holder}")
    seconds = sum(one["seconds"] for one in rows
                  if re.search(thing, one["object"]) and re.search(function, one["function"] or ""))
    # The program cannot tell for how long it was woken, and had no processor.
    bound = max(0.03 * clock * threads, 0.05 * waited)
    ready = sum(one["seconds"] for one in busy if one["reason"] == "processor")
    least = waited - bound - (ready if reason != "processor" else 0)
    if not least <= seconds <= waited + bound:
        print(f"{seconds:.3f} s, not {waited:.3f} s, of {threads} threads in {clock:.3f} s")
    if not set(diagnoses) & set(causes.split()):
        print(f"diagnoses {diagnoses}, none of {causes}")


main()
