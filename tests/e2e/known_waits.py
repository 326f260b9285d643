# SPDX-License-Identifier: MIT
"""What lode says of known_waits against what it measured of itself.

    known_waits.py KIND TRUTH WAITS.json REPORT.json

Prints a line for each fault: the costliest wait of the kind must have its object, function and,
within a quarter, its time; one of its causes is among the diagnoses; in which order depends on how
busy the machine is. bench/waits.py has closer bounds, for a machine that is not.
"""
import json
import re
import sys

# reason, object, function, holder, causes
KINDS = {
    "lock": ("lock", "table_lock", "update_table", "hold_table|compute", "wait-lock"),
    "rwlock": ("lock", "map_lock", "use_map", "hold_map|compute", "wait-lock"),
    "condition": ("condition", "stock_ready", "take_stock", None, "wait-serial"),
    "semaphore": ("condition", "tokens", "take_token", None, "wait-serial"),
    "barrier": ("condition", "gate", "meet", None, "wait-serial"),
    "join": ("join", ".", "await_sum", None, "wait-serial"),
    "child": ("child", ".", "await_children", None, "wait-child"),
    "sleep": ("sleep", ".", "nap", None, "wait-sleep"),
    "poll": ("poll", "", "watch", None, "wait-socket"),
    "sync": ("sync", r"known\.notes", "save_notes", None, "wait-sync"),
    "pipe": ("pipe", ".", "send_rows", None, "wait-pipe wait-serial"),
    "unix": ("socket", ".", "ask", None, "wait-socket"),
    "tcp": ("socket", r"tcp 127\.0\.0\.1", "ask", None, "wait-socket"),
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
                  if re.search(thing, one["object"] or "") and re.search(function, one["function"] or ""))
    # Where the machine is busy, switches are recorded for a part of the time. Nor can the program
    # tell for how long it was woken, and had no processor.
    bound = max(0.05 * clock * threads, 0.25 * max(waited, seconds))
    ready = sum(one["seconds"] for one in busy if one["reason"] == "processor")
    least = waited - bound - (ready if reason != "processor" else 0)
    if not least <= seconds <= waited + bound:
        print(f"{seconds:.3f} s, not {waited:.3f} s, of {threads} threads in {clock:.3f} s")
    if not set(diagnoses) & set(causes.split()):
        print(f"diagnoses {diagnoses}, none of {causes}")


main()
