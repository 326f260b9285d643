#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lode says first of programs of the system that wait, beside what strace counts.

  bench/waits_real.py LODE [NAME …]

Each program of a list runs twice with the same small work, under "lode run" and under "strace -f -T" (services are
attached to, while clients ask them). Printed are the head and the first diagnoses of the first screen; seconds
by system call as looks tell them, summed over threads; and those of strace, whose own stops make short calls
longer: what must agree is which calls have the time. Programs that are not installed are left out.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PREPARE = r"""
seq 1 1500000 | shuf --random-source=<(yes) >lines
mkdir files && for i in $(seq 800); do head -c 20000 lines >files/$i; done
{ echo 'create table t(a integer primary key, b text);'
  for i in $(seq 400); do echo "insert into t(b) values('x$i');"; done; } >inserts.sql
git init -q repo && cd repo && git config user.email a@b && git config user.name a
for i in $(seq 30); do for k in $(seq 20); do head -n $((i * 20 + k)) ../lines >f$k; done; git add -A; git commit -qm $i; done
cd .. && mkdir sources && cd sources
for i in $(seq 30); do printf '#include <stdio.h>\nint f%d(int a) { return printf("%%d", a * %d); }\n' $i $i >s$i.c; done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n%%.o: %%.c\n\tgcc -O2 -c $< -o $@\n' >Makefile
cd .. && mkdir -p deb/DEBIAN deb/opt/x && cp files/1* deb/opt/x
printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: x\n' >deb/DEBIAN/control
dpkg-deb -b deb x.deb >/dev/null
for i in $(seq 300); do echo "url = \"http://127.0.0.1:8765/files/$i\""; echo 'output = "/dev/null"'; done >urls
mkdir redis
"""

ASK = "for i in 1 2 3; do curl -s -K urls & done; wait"

# name: before it, the command; or of a service: its command, that of its clients
PROGRAMS = {
    "sqlite3": ("rm -f db*", "sqlite3 db '.read inserts.sql'"),
    "sort": ("", "sort -S 2M lines -o sorted"),
    "make": ("rm -f sources/*.o", "make -C sources -j2"),
    "git gc": ("", "git -C repo gc --aggressive"),
    "git clone": ("rm -rf copy", "git clone --no-local repo copy"),
    "rsync": ("rm -rf to", "rsync -a files/ to/"),
    "tar, xz": ("", "sh -c 'tar c files | xz -T1 >files.xz'"),
    "xargs": ("", "sh -c 'find files -type f | xargs -n 1 md5sum'"),
    "ssh-keygen": ("rm -f key*", "ssh-keygen -q -t rsa -b 4096 -N '' -f key"),
    "dpkg": ("rm -rf root; mkdir -p root/var/lib/dpkg/{updates,info,triggers}; touch root/var/lib/dpkg/status",
             "dpkg --root=root --force-not-root --force-all -i x.deb"),
    "curl": ("", "curl -s -K urls", "python3 -m http.server 8765"),
    "http.server": ("python3 -m http.server 8765", ASK),
    "redis": ("redis-server --port 6399 --dir redis --appendonly yes --appendfsync always",
              "redis-benchmark -p 6399 -c 8 -n 8000 -t set -q"),
}
SERVICES = ("http.server", "redis")


def shell(command, folder):
    subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)


def start(command, folder):
    service = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    return service


def strace_of(path):
    sums = collections.Counter()
    for line in path.read_text(errors="replace").splitlines():
        found = re.match(r"\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed).*<([0-9.]+)>$", line)
        if found:
            sums[found[1]] += float(found[2])
    return sums


def text_of(sums):
    return ", ".join(f"{call} {seconds:.2f} s" for call, seconds in sums.most_common(4) if seconds >= 0.005)


def show(lode, name, folder):
    def said(*options):
        return json.loads(subprocess.run([lode, "report", *options, "--format", "json", "x.lode"], cwd=folder,
                                         capture_output=True, check=True).stdout)

    waits, calls = said("--waits"), collections.Counter()
    for row in waits["waits"]:
        calls[row.get("call") or row["reason"]] += row["seconds"]
    print(f"{name}: {waits['head'] or str(round(waits['clock_seconds'], 2)) + ' s by the clock'}")
    for one in said()["diagnoses"][:2]:
        saves = one["saves_clock"] or {}
        print(f"  {one['cause']}, {100 * (saves.get('high') or 0):.0f} %: {one['title']} → {one['remedy'].split(';')[0]}")
    print(f"  looks:  {text_of(calls)}")
    print(f"  strace: {text_of(strace_of(folder / 'calls'))}", flush=True)


def run(lode, name, folder):
    record = [lode, "run", "-o", "x.lode", "--report", os.devnull]
    trace = ["strace", "-f", "-T", "-o", "calls"]
    for recorder in (record, trace):
        service = None
        before, command, *rest = PROGRAMS[name]
        if name in SERVICES:
            service = start(before, folder)
            recorder = [*recorder, "-p", str(service.pid)]
        elif rest:
            service = start(rest[0], folder)
        else:
            shell(before, folder)
        words = ["--", "bash", "-c", f"exec {command}" if name not in SERVICES else command]
        if name in SERVICES and recorder[0] == "strace":
            tracer = subprocess.Popen(recorder, cwd=folder, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            shell(command, folder)
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
        else:
            subprocess.run([*recorder, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False, timeout=300)
        if service:
            service.terminate()
            service.wait()
    show(lode, name, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lode", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        subprocess.run(["bash", "-c", PREPARE], cwd=folder, check=True)
        for name, words in PROGRAMS.items():
            tool = re.match(r"[\w.-]+", words[0 if name in SERVICES else 1])[0]
            if (not asked.names or name in asked.names) and shutil.which(tool):
                run(asked.lode.absolute(), name, folder)


if __name__ == "__main__":
    sys.exit(main())
