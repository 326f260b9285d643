# SPDX-License-Identifier: MIT
# Whether the functions and lines of a report have the shares that the program measured. Looks are
# few on a busy machine, and start-up is not in the program's own shares.
import json
import sys

MOST = 0.15

truth, functions, lines = sys.argv[1:]
functions = json.load(open(functions))["functions"]
lines = json.load(open(lines))["lines"]
total = max(row["inclusive"] for row in functions if row.get("function") == "<module>")
for row in open(truth):
    name, line, share = row.split()
    share = float(share)
    found = [f for f in functions if f.get("function") == name]
    if len(found) != 1 or found[0]["language"] != "python":
        sys.exit(f"{name}: {len(found)} rows")
    if not found[0]["file"].endswith("app.py") or abs(found[0]["line"] - int(line)) > 4:
        sys.exit(f"{name}: at {found[0]['file']}:{found[0]['line']}")
    said = found[0]["inclusive"] / total
    if abs(said - share) > MOST:
        sys.exit(f"{name}: {said:.2f} of the time, not {share:.2f}")
    at = sum(r["inclusive"] for r in lines
             if r["file"].endswith("app.py") and r["line"] == int(line))
    if at / total > share + MOST or at / total < share / 3:
        sys.exit(f"line {line}: {at / total:.2f} of the time, not {share:.2f}")
