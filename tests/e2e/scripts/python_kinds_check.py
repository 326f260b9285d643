# SPDX-License-Identifier: MIT
# Whether a report's functions of a program of python_kinds.py have the shares that it measured.
# Arguments: the report's functions, the file that the truth is in, the end of the script's name.
import json
import sys

MOST = 0.2

functions, truth, script = sys.argv[1:]
rows = [r for r in json.load(open(functions))["functions"]
        if r.get("language") == "python" and r["file"].endswith(script)]
found = {}
for name in "heavy", "light":
    of_it = [r for r in rows if r["function"] == name]
    if len(of_it) != 1:
        sys.exit(f"{name} of {script}: {len(of_it)} rows")
    found[name] = of_it[0]["inclusive"]
said = found["heavy"] / (found["heavy"] + found["light"])
share = float(open(truth).read())
if abs(said - share) > MOST:
    sys.exit(f"heavy: {said:.2f} of the time, not {share:.2f}")
