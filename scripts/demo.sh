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
subject=src/base/number_format.c
input=build/demo.i
read -ra flags <<<"$(pkg-config --cflags glib-2.0)"
gcc -E -P -D_GNU_SOURCE -Isrc "${flags[@]}" "$subject" -o "$input"
command=("$(gcc -print-prog-name=cc1)" -quiet -O0 "$input" -o /dev/null)

echo "demo: ${command[*]}"
echo "demo: cc1 compiles $subject while every instruction is counted; that takes a while"
echo
build/src/cli/lode run --exact -o demo.lode -- "${command[@]}"

cat <<'END'

The profile is demo.lode; 'lode' above is build/src/cli/lode until it is installed:
  build/src/cli/lode run --exact -- PROGRAM ARGUMENT…   the same for a program of yours
  meson install -C build                                puts lode, its man pages and completions below /usr/local
END
