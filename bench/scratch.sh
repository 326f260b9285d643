# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What benchmarks that measure programs begin with: a folder of their own, which goes with them, and
# nothing in the environment that changes what programs do. To be sourced by a script that ends at
# errors, with the path of lode or nothing; sets lode, work and cc1, the compiler without its driver.
lode=$(realpath "${1:-build/src/cli/lode}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
unset LD_PRELOAD DEBUGINFOD_URLS
cc1=$(gcc -print-prog-name=cc1)
