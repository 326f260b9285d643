#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""program_use.py DIRECTORY

What the remedies of programs.ini save: processor time of commands without and with each, the least
of three. DIRECTORY has src.txt, log.txt and num.txt (bench/README.md), and words.txt, one a line.
"""
import os
import resource
import subprocess
import sys

IN_C = object()
PAIRS = [
    ("grep -i 'static' src.txt", IN_C),
    ("grep -i -E 'host[0-9]+ .*stack' log.txt", IN_C),
    ("grep -o -E '[A-Za-z_]+' src.txt", IN_C),
    ("grep -E '([a-z]+)_\\1' src.txt", IN_C),
    ("grep -E 'host[0-9]+ .*Stack' log.txt", IN_C),
    ("grep -i -w -f words.txt src.txt", IN_C),
    ("sed 's/host[0-9]*/H/g' log.txt", IN_C),
    ("sed 's/host[0-9]*/H/Ig' log.txt", IN_C),
    ("sed 'y/abc/xyz/' src.txt", IN_C),
    ("sort log.txt", IN_C),
    ("sort -f -k3 num.txt", IN_C),
    ("sort -n num.txt", IN_C),
    ("wc -m src.txt log.txt", "wc -c src.txt log.txt"),
    ("wc -w src.txt log.txt", IN_C),
    ("gzip -c log.txt", "gzip -1 -c log.txt"),
    ("gzip -c src.txt num.txt", "zstd -q -c src.txt num.txt"),
    ("xz -c num.txt", "xz -2 -c num.txt"),
    ("xz -c num.txt", "zstd -q -c num.txt"),
    ("bzip2 -c num.txt", "zstd -q -c num.txt"),
    ("zstd -q -19 -c num.txt", "zstd -q -9 -c num.txt"),
    ("sha256sum log.txt", "openssl sha256 -r log.txt"),
    ("sha1sum num.txt", "openssl sha1 -r num.txt"),
]


def seconds(command, directory, locale):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    environment = {**os.environ, "LC_ALL": locale}
    times = []
    for _ in range(3):
        before = used()
        # Not to /dev/null itself: grep would stop at the first match.
        subprocess.run(["sh", "-c", command + " | cat >/dev/null"], cwd=directory, env=environment, check=True)
        times.append(used() - before)
    return min(times)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for command, remedy in PAIRS:
        before = seconds(command, sys.argv[1], "C.UTF-8")
        after = seconds(command if remedy is IN_C else remedy, sys.argv[1], "C" if remedy is IN_C else "C.UTF-8")
        print(f"{before:6.3f} s  {after:6.3f} s  {100 * (1 - after / before):4.0f} %  {command}", flush=True)


main()
