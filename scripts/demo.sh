#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing, builds lode in build/, and shows its main job on a real program: Debian's
# Python while it parses part of its own library, and gzip with windows. Leaves the profiles in
# demo.lode and windows.lode.
#
#   scripts/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
scripts/build.sh build

# The interpreter's parser: thousands of functions, and time that is in none of them.
cat >build/demo.py <<'END_OF_PROGRAM'
import ast, glob, os
paths = sorted(glob.glob(os.path.join(os.path.dirname(ast.__file__), "*.py")))[:25]
print(sum(len(ast.dump(ast.parse(open(path).read()))) for path in paths), "characters of syntax")
END_OF_PROGRAM
# The same hashes in both runs.
export PYTHONHASHSEED=0
command=(/usr/bin/python3 -S build/demo.py)

echo "demo: ${command[*]}"
echo "demo: it runs at full speed, sampled, and then in qemu, counted; that takes a while"
echo "demo: (without --count it runs once, sampled)"
echo
build/src/cli/lode run --count -o demo.lode -- "${command[@]}"

echo
echo "demo: gzip, once, at full speed; now and then some hundred instructions are executed one by one"
echo
build/src/cli/lode run --windows 3% -o windows.lode -- gzip -9 -c build/src/liblode.so >build/demo.gz
build/src/cli/lode info windows.lode | sed -n '/^Windows/,/^$/p'

cat <<'END'

The profiles are demo.lode and windows.lode; 'lode' above is build/src/cli/lode until it is installed:
  build/src/cli/lode run -- PROGRAM ARGUMENT…   the same for a program of yours
  meson install -C build                        puts lode, its man pages and completions below /usr/local
END
