#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing, builds lode in build/, and shows its main job on a real program: one in
# Python that reads Python's own library, before and after what the first diagnosis advises; then
# gzip with windows. Leaves the profiles in demo.lode, after.lode and windows.lode.
#
#   scripts/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
scripts/build.sh build

cat >build/demo.py <<'END_OF_PROGRAM'
"""How many names Python's own library uses, and how often."""
import ast
import glob
import os


class Names:
    def __init__(self):
        self.known = []
        self.uses = {}

    def use(self, name):
        if name not in self.known:
            self.known.append(name)
        self.uses[name] = self.uses.get(name, 0) + 1


def read(path, names):
    with open(path, encoding="utf-8") as text:
        for node in ast.walk(ast.parse(text.read())):
            if isinstance(node, ast.Name):
                names.use(node.id)


names = Names()
for path in sorted(glob.glob(os.path.join(os.path.dirname(ast.__file__), "*.py"))):
    read(path, names)
print(len(names.known), "names, used", sum(names.uses.values()), "times")
END_OF_PROGRAM
# The same hashes in both runs.
export PYTHONHASHSEED=0

echo "demo: /usr/bin/python3 build/demo.py, sampled at full speed"
echo
build/src/cli/lode run -o demo.lode -- /usr/bin/python3 build/demo.py

echo
echo "demo: the same with a set of names, as D1 advises, and what that changed"
echo
sed -i 's/self.known = \[\]/self.known = set()/; s/known.append/known.add/' build/demo.py
build/src/cli/lode run -o after.lode -- /usr/bin/python3 build/demo.py >build/after.txt 2>&1 || {
	cat build/after.txt
	exit 1
}
build/src/cli/lode diff demo.lode after.lode | sed '/^ *change/,$d'

echo "demo: gzip, once, at full speed; now and then some hundred instructions are executed one by one"
echo
build/src/cli/lode run --windows 3% -o windows.lode -- gzip -9 -c build/src/liblode.so >build/demo.gz
build/src/cli/lode info windows.lode | sed -n '/^Windows/,/^$/p'

cat <<'END'

The profiles are demo.lode, after.lode and windows.lode; 'lode' above is build/src/cli/lode until it is installed:
  build/src/cli/lode run -- PROGRAM ARGUMENT…   the same for a program of yours
  meson install -C build                        puts lode, its man pages and completions below /usr/local
END
