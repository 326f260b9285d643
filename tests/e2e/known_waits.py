# SPDX-License-Identifier: MIT
"""What lode says of known_waits against what it measured of itself.

    known_waits.py KIND TRUTH WAITS.json REPORT.json [SOURCE]

Prints a line for each fault: the costliest wait of the kind must have its object, function and,
within a quarter, its time; one of its causes is among the diagnoses; in which order depends on how
busy the machine is. bench/waits.py has closer bounds, for a machine that is not. With the source,
the wait and the diagnosis must be at its line that ends with the kind's name.
"""
import json
import os
import re
import sys

# reason, object, function, holder, causes
KINDS = {
    "lock": ("lock", "table_lock", "update_table", "hold_table|compute", "wait-lock"),
    "mutex": ("lock", "Mutex|^$", "share", None, "wait-lock"),
    "rwlock": ("lock", "map_lock", "use_map", "hold_map|compute", "wait-lock"),
    "condition": ("condition", "stock_ready", "take_stock", None, "wait-serial"),
    "semaphore": ("condition", "tokens", "take_token", None, "wait-serial"),
    "barrier": ("condition", "gate", "meet", None, "wait-serial"),
    "join": ("join", ".", "await_sum", None, "wait-serial"),
    "child": ("child", ".", "await_children", None, "wait-child wait-sleep"),
    "output": ("child", "known_waits", "await_output", None, "wait-child"),
    "signal": ("child", "known_waits", "await_signals", None, "wait-child"),
    "short": ("child", "true", "await_short", None, "wait-child"),
    "sleep": ("sleep", ".", "nap", None, "wait-sleep"),
    "table": (None, None, "write_table", None, "system-call"),
    "poll": ("poll", "", "watch", None, "wait-socket"),
    "sync": ("sync", r"known\.notes", "save_notes", None, "wait-sync"),
    "pipe": ("pipe", ".", "send_rows", None, "wait-pipe wait-serial"),
    "unix": ("socket", ".", "ask", None, "wait-socket"),
    "tcp": ("socket", r"tcp 127\.0\.0\.1", "ask", None, "wait-socket"),
    "epoll": ("socket", r"tcp 127\.0\.0\.1", "ask", None, "wait-socket"),
    "answer": ("socket", ".", "answer", None, "wait-socket"),
    "peer": ("socket", ".", "ask", None, None),
    "queue": ("condition", "", "work", None, None),
    "latch": ("condition|lock", "", "check", None, None),
    "processor": ("processor", ".", "compute|draw", None, "wait-processor"),
}


def check_line(source, kind, what, place):
    with open(source, encoding="utf-8") as file:
        lines = [number for number, text in enumerate(file, 1) if re.search(rf"(#|//) {kind}$", text)]
    if os.path.basename(place["file"] or "") != os.path.basename(source) or place["line"] not in lines:
        print(f"{what} at {place['file']}:{place['line']}, not {os.path.basename(source)}:{lines}")


def check_diagnosis(said, kind, function, cause, source):
    """A cause that is no wait must be the first, at its line."""
    place = said[0]["scope"] if said else {}
    if not said or said[0]["cause"] != cause or function not in (place["function"] or ""):
        print(f"the first of {[(one['cause'], one['scope']) for one in said]} is not {cause} in {function}")
    else:
        check_line(source, kind, cause, place)


def main():
    kind, truth_file, waits_file, report_file, *source = sys.argv[1:]
    reason, thing, function, holder, causes = KINDS[kind]
    with open(truth_file, encoding="utf-8") as file:
        _, clock, threads, waited = file.readline().split()
    clock, threads, waited = float(clock), int(threads), float(waited)
    with open(waits_file, encoding="utf-8") as file:
        waits = json.load(file)
    with open(report_file, encoding="utf-8") as file:
        said = json.load(file)["diagnoses"]
    diagnoses = [one["cause"] for one in said]
    if reason is None:
        check_diagnosis(said, kind, function, causes, source[0])
        return
    busy = [one for one in waits["waits"] if not one["idle"]]
    rows = [one for one in busy if re.fullmatch(reason, one["reason"])]
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
    # What other programs had of the processors is no cause.
    others = sum(one["seconds"] for one in busy if one["object"] == "other programs")
    causes = None if reason == "processor" and others > seconds / 4 else causes
    fitting = [one for one in said if causes and one["cause"] in causes.split()]
    if causes and not fitting:
        print(f"diagnoses {diagnoses}, none of {causes}")
    for place, what in ((first, "wait"), *((one["scope"], one["cause"]) for one in fitting[:1])):
        if source:
            check_line(source[0], kind, what, place)


main()
