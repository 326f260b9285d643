#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Registers and addresses of windows stay in the recording.

  tests/e2e/windows_private.py LODE

A program keeps a secret number in a register, and reads data at an address that is another one,
while windows of it are executed step by step. The recording has both, and its profile the address,
else the test would say nothing. The files exported from the profile, its page, and the profile that
it is merged to have neither, and the profile does not have the number: not as bytes in any order,
not as numbers of the recording's log, not as text. Prints TAP.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

LODE = os.path.abspath(sys.argv[1])
SECRET = 0x5EC2E7A1B3C5D7E9
ADDRESS = 0x5EC2E7D00000
# The numbers are made at run time, for a profile has the program's code.
PROGRAM = """#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static volatile unsigned seed = 1;
__attribute__((noinline)) static unsigned long work(unsigned long secret, unsigned char *data)
{
	unsigned long sum = 0;
	for (unsigned i = 0; i < 100000; i++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 30 == 0)
			sum += secret ^ data[i & 4095];
		else
			sum ^= secret;
	}
	return sum;
}
int main(int argc, char **argv)
{
	unsigned long secret = strtoul(getenv("SECRET"), NULL, 16) ^ 0xffffffffffffffff;
	unsigned long address = strtoul(getenv("ADDRESS"), NULL, 16) ^ 0xffffffffffffffff;
	unsigned char *data = mmap((void *)address, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unsigned long sum = 0;
	if (data == MAP_FAILED)
		return 1;
	for (int i = 0; i < 5000; i++)
		sum += work(secret, data);
	return sum == 1;
}
"""


def leb128(number):
    number = (number << 1 ^ number >> 63) & 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if number == 0:
            return bytes(out)


def forms(number, n_bytes):
    """All in which a number may be written; of an address the pages around it count, too."""
    start = number.to_bytes(n_bytes, "big")[: n_bytes - (2 if number == ADDRESS else 0)]
    text = f"{number:x}"[: -4 if number == ADDRESS else None]
    return [start, start[::-1], text.encode(), text.upper().encode(), str(number).encode()]


def has_secret(data):
    return any(form in data for form in forms(SECRET, 8) + [leb128(SECRET)])


def has_address(data):
    return any(form in data for form in forms(ADDRESS, 6))


def find(data):
    return has_secret(data) or has_address(data)


def logs(path):
    """The logs of the recording's section 253, unpacked."""
    data = path.read_bytes()
    data_at, data_size = struct.unpack_from("<QQ", data, 40)
    features = struct.unpack_from("<4Q", data, 72)
    has = [bit for bit in range(256) if features[bit // 64] >> bit % 64 & 1]
    if 253 not in has:
        return
    at, _ = struct.unpack_from("<QQ", data, data_at + data_size + 16 * has.index(253))
    _, n = struct.unpack_from("<II", data, at)
    at += 8
    for _ in range(n):
        size, _ = struct.unpack_from("<QQ", data, at)
        frame = data[at + 16 : at + 16 + size]
        yield subprocess.run(["zstd", "-dc"], input=frame, stdout=subprocess.PIPE, check=True).stdout
        at += 16 + (size + 7) // 8 * 8


def lode(*args, **more):
    return subprocess.run([LODE, *map(str, args)], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def record(folder):
    source, program = folder / "secret.c", folder / "secret"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", source, "-o", program], check=True)
    invert = 0xFFFFFFFFFFFFFFFF
    environment = {**os.environ, "SECRET": f"{SECRET ^ invert:x}", "ADDRESS": f"{ADDRESS ^ invert:x}"}
    for name in "one", "two":
        lode("record", "--windows", "20%", "-o", folder / f"{name}.data", "--", program, env=environment)
        lode("import", folder / f"{name}.data", "-o", folder / f"{name}.lode")


class Tap:
    n = 0
    failed = False

    def check(self, is_right, what):
        self.n += 1
        self.failed |= not is_right
        print(f"{'ok' if is_right else 'not ok'} {self.n} - {what}", flush=True)


def main():
    if not shutil.which("gcc"):
        print("1..0 # SKIP gcc is not installed")
        return 0
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-private-") as name:
        folder = pathlib.Path(name)
        record(folder)
        one = folder / "one.lode"
        if b"executions observed in" not in lode("info", one).stdout:
            print("1..0 # SKIP no window was executed")
            return 0
        mode = (folder / "one.data").stat().st_mode & 0o777
        tap.check(mode == 0o600, f"the recording is its owner's alone ({mode:o})")
        if shutil.which("zstd"):
            kept = b"".join(logs(folder / "one.data"))
            tap.check(leb128(SECRET) in kept, "the recording has the register")
            tap.check(leb128(ADDRESS) in kept, "the recording has the address")
        tap.check(not has_secret(one.read_bytes()), "the profile has not the register")
        tap.check(has_address(lode("memory", one, "--by", "page", "--format", "csv").stdout), "it has the address")
        lode("merge", one, folder / "two.lode", "-o", folder / "all.lode")
        all_of = folder / "all.lode"
        tap.check(b"executions observed in" in lode("info", all_of).stdout, "windows are merged")
        tap.check(not find(all_of.read_bytes()), "the merged profile has neither")
        for form in "flow", "callgrind", "pprof", "firefox", "folded":
            out = folder / f"out.{form}"
            lode("export", one, "--format", form, "-o", out)
            data = out.read_bytes()
            if data[:2] == b"\x1f\x8b":
                data = subprocess.run(["gzip", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
            tap.check(len(data) > 0 and not find(data), f"export --format {form} has neither")
        for what in ["info"], ["annotate", "function", "work"]:
            answer = lode(what[0], one, *what[1:], "--format", "json").stdout
            tap.check(b"window" in answer and not has_secret(answer), f"{what[0]} has not the register")
        page = subprocess.run(
            [LODE, "report", one, "--html", folder / "page.html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if page.returncode == 0:
            tap.check(not find((folder / "page.html").read_bytes()), "the page has neither")
    print(f"1..{tap.n}")
    return tap.failed


sys.exit(main())
