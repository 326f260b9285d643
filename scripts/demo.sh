#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs what is missing, builds lode in build/, and shows its main job on a real program: gcc's
# compiler proper (cc1) while it compiles one of lode's own files. Leaves the profile in demo.lode.
#
#   scripts/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
scripts/build.sh build

# Preprocessed first, so that cc1 alone is the program that is looked at.
subject=src/base/worker_pool.c
input=build/demo.i
read -ra flags <<<"$(pkg-config --cflags gio-2.0)"
gcc -E -P -D_GNU_SOURCE -Isrc "${flags[@]}" "$subject" -o "$input"
command=("$(gcc -print-prog-name=cc1)" -quiet -O2 "$input" -o /dev/null)

echo "demo: ${command[*]}"
echo "demo: cc1 compiles $subject while every instruction is counted; that takes a while"
echo
build/src/cli/lode run --exact -o demo.lode -- "${command[@]}"

cat <<'END'

To go on:
  build/src/cli/lode annotate demo.lode 1      where the sequence with this ID occurs (IDs stand in the list above)
  build/src/cli/lode report demo.lode --all    every sequence that was found
  build/src/cli/lode info demo.lode            what is in the profile, and how good it is
  build/src/cli/lode run --exact -- PROGRAM…   the same for a program of yours
END
