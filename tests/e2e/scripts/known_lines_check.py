# SPDX-License-Identifier: MIT
# Whether the functions and lines of a report have the shares that the program measured. Looks are
# few on a busy machine.
#
#   known_lines_check.py LANGUAGE TRUTH FUNCTIONS LINES [MOST]
import json
import sys

language, truth, functions, lines = sys.argv[1:5]
most = float(sys.argv[5]) if len(sys.argv) > 5 else 0.1
functions = json.load(open(functions))["functions"]
lines = json.load(open(lines))["lines"]
total = max(row["inclusive"] or 0 for row in functions)
faults = []
for row in open(truth):
    name, line, share = row.rstrip("\n").split("\t")
    line, share = int(line), float(share)
    found = [f for f in functions
             if f.get("function") == name and f["language"] == language and f["line"] <= line]
    if not found:
        faults.append(f"{name}: no row")
        continue
    nearest = max(found, key=lambda f: f["line"])
    here = nearest["inclusive"] / total
    at = sum(r["inclusive"] or 0 for r in lines
             if r["line"] == line and r["file"] == nearest["file"]) / total
    if len(sys.argv) > 6:
        print(f"{name}:{line}: {100 * here:.1f} %, the line {100 * at:.1f} %, not {100 * share:.1f} %")
    if line - nearest["line"] > 4:
        faults.append(f"{name}: begins at {nearest['line']}, far from {line}")
    if abs(here - share) > most:
        faults.append(f"{name}: {here:.2f} of the time, not {share:.2f}")
    if at > share + most or at < share / 3:
        faults.append(f"{name}, line {line}: {at:.2f} of the time, not {share:.2f}")
if faults:
    sys.exit("\n".join(faults))
