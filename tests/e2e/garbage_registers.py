# SPDX-License-Identifier: MIT
"""Fills the user registers of all samples of a perf.data, but instruction pointer and flags, with
random numbers, as a damaged recording has them.

  garbage_registers.py PERF.DATA OUTPUT
"""
import random
import struct
import sys

REGS_USER = 1 << 12
# Fields before the registers, in their order: all of 8 bytes. Others are not expected.
BEFORE = [1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 9, 1 << 7, 1 << 8]
VARIABLE = 1 << 4 | 1 << 5 | 1 << 10 | 1 << 11  # READ, CALLCHAIN, RAW, BRANCH_STACK
KEPT = {8, 9, 10, 11}  # IP, FLAGS, CS, SS
SAMPLE = 9

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
assert data[:8] == b"PERFILE2"
attr_size, attrs, attrs_size, start, size = struct.unpack_from("<5Q", data, 16)
masks = {}  # id of an event → its registers and the fields before them
for at in range(attrs, attrs + attrs_size, attr_size):
    sample_type = struct.unpack_from("<Q", data, at + 24)[0]
    registers = struct.unpack_from("<Q", data, at + 80)[0]
    ids, ids_size = struct.unpack_from("<2Q", data, at + attr_size - 16)
    if not sample_type & REGS_USER:
        continue
    assert sample_type & 1 << 16 and not sample_type & VARIABLE
    n_before = sum(1 for bit in BEFORE if sample_type & bit)
    for (number,) in struct.iter_unpack("<Q", data[ids : ids + ids_size]):
        masks[number] = registers, n_before
numbers = random.Random(7)
at, n = start, 0
while at < start + size:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    number = struct.unpack_from("<Q", data, at + 8)[0]
    if kind == SAMPLE and number in masks:
        registers, n_before = masks[number]
        place = at + 8 + 8 * n_before
        if struct.unpack_from("<Q", data, place)[0] != 0:
            for bit in (i for i in range(64) if registers >> i & 1):
                place += 8
                if bit not in KEPT:
                    struct.pack_into("<Q", data, place, numbers.getrandbits(64))
            n += 1
    at += length
assert n > 0
with open(sys.argv[2], "wb") as file:
    file.write(data)
