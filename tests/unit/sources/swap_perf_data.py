# SPDX-License-Identifier: MIT
"""Turns a little-endian perf.data file into the one that a big-endian machine would have written.

For files in header mode whose samples are numbers, call chains and branch stacks. Of the features
only the host's name is kept, by which perf tells the width of the feature map's words.
"""
import struct

MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, SAMPLE, MMAP2, LOST_SAMPLES = \
    1, 2, 3, 4, 5, 6, 7, 9, 10, 13
# Fields in front of the text, if any: I of 32 bits, Q of 64.
FIXED = {MMAP: "IIQQQ", MMAP2: "IIQQQIIQQII", COMM: "II", EXIT: "IIIIQ", FORK: "IIIIQ", LOST: "QQ",
         LOST_SAMPLES: "Q", THROTTLE: "QQQ", UNTHROTTLE: "QQQ"}
# Sample fields in their order: the bit of sample_type, how they look.
START = ((16, "Q"), (0, "Q"), (1, "II"), (2, "Q"), (3, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (8, "Q"))
TRAILER = ((1, "II"), (2, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (16, "Q"))
BRANCH_STACK = 1 << 11
BRANCH_FIELDS = ((0, 1), (1, 1), (2, 1), (3, 1), (4, 16), (20, 4), (24, 2), (26, 4), (30, 3))


def shape(fields, sample_type):
    return "".join(form for bit, form in fields if sample_type >> bit & 1)


def swap(form, data):
    return struct.pack(">" + form, *struct.unpack("<" + form, data))


def swap_words(data):
    return swap("Q" * (len(data) // 8), data)


def swap_fields(value, fields):
    return sum((value >> shift & (1 << width) - 1) << 64 - shift - width for shift, width in fields)


def swap_branches(data):
    """The number of branches, and of each source, target and flags."""
    n = struct.unpack_from("<Q", data)[0]
    out = struct.pack(">Q", n)
    for at in range(8, 8 + 24 * n, 24):
        source, target, flags = struct.unpack_from("<QQQ", data, at)
        out += struct.pack(">QQQ", source, target, swap_fields(flags, BRANCH_FIELDS))
    return out + swap_words(data[8 + 24 * n:])


def swap_sample(data, sample_type):
    start = shape(START, sample_type)
    size = struct.calcsize("<" + start)
    rest = data[size:]
    rest = swap_branches(rest) if sample_type & BRANCH_STACK else swap_words(rest)
    return swap(start, data[:size]) + rest


def swap_record(kind, data, sample_type):
    """The payload; None for what cannot be swapped."""
    if kind == SAMPLE:
        return swap_sample(data, sample_type)
    if kind not in FIXED:
        return None
    trailer = shape(TRAILER, sample_type)
    size, end = struct.calcsize("<" + FIXED[kind]), len(data) - struct.calcsize("<" + trailer)
    return swap(FIXED[kind], data[:size]) + data[size:end] + swap(trailer, data[end:])


def swap_attribute(data):
    flags = struct.unpack_from("<Q", data, 40)[0]
    fields = [(bit, 1) for bit in range(64) if bit not in (15, 16)] + [(15, 2)]
    out = swap("IIQQQQ", data[:40]) + struct.pack(">Q", swap_fields(flags, fields))
    return out + swap("II", data[48:56]) + swap_words(data[56:])


def swap_file(data):
    entry_size, attributes, attributes_size, start, size = struct.unpack_from("<QQQQQ", data, 16)
    ids, entries, id_base = b"", b"", 104 + attributes_size
    for at in range(attributes, attributes + attributes_size, entry_size):
        attribute = data[at:at + entry_size - 16]
        offset, ids_size = struct.unpack_from("<QQ", data, at + entry_size - 16)
        entries += swap_attribute(attribute) + struct.pack(">QQ", id_base + len(ids), ids_size)
        ids += swap_words(data[offset:offset + ids_size])
    sample_type = struct.unpack_from("<Q", data, attributes + 24)[0]
    records, at = [], start
    while at < start + size:
        kind, misc, record_size = struct.unpack_from("<IHH", data, at)
        payload = swap_record(kind, data[at + 8:at + record_size], sample_type)
        if payload is not None:
            records.append(struct.pack(">IHH", kind, misc, record_size) + payload)
        at += record_size
    body = b"".join(records)
    data_start = id_base + len(ids)
    name = struct.pack(">I", 64) + b"host".ljust(64, b"\0")
    sections = struct.pack(">QQ", data_start + len(body) + 16, len(name))
    header = struct.pack(">QQQQQQQQQ", 0x32454c4946524550, 104, entry_size, 104, attributes_size,
                         data_start, len(body), 0, 0) + struct.pack(">QQQQ", 1 << 3, 0, 0, 0)
    return header + entries + ids + body + sections + name
