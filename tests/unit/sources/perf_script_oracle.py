#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what lode reads from perf.data files with what perf script says of them.

    perf_script_oracle.py DUMP_PERF_DATA DIRECTORY_OF_RECORDINGS

Two sets of files: those of the directory (NAME.perf.data.zst, of many versions of perf), and some
recorded on the spot. Of each file, samples, mappings, commands, forks, exits and losses must be the
same, field by field; times to the nanosecond. perf script puts what it prints in the order of time,
so both are sorted. With LODE_LONG_TESTS in the environment, also what takes perf long. TAP on stdout.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from swap_perf_data import swap_file  # noqa: E402

# Of sample_type: what perf script can print of it. All events must have the bit.
FIELDS = {"cpu": 1 << 7, "addr": 1 << 3, "data_src": 1 << 15, "weight": 1 << 14 | 1 << 24,
          "ins_lat": 1 << 24, "brstack": 1 << 11, "phys_addr": 1 << 19}
# What the header says: the name in the dump and that in perf script --header.
HEADER = {"host": "hostname", "os_release": "os release", "version": "perf version",
          "architecture": "arch", "cpus_online": "nrcpus online", "cpus_available": "nrcpus avail",
          "cpu_description": "cpudesc", "cpu_id": "cpuid", "memory": "total memory",
          "cores": "sibling sockets", "threads": "sibling threads"}
NUMBERS = ("cpus_online", "cpus_available", "memory")
# Call chains, registers, stacks: perf script prints them resolved, and as they stand only in its
# raw dump.
RAW = 1 << 5 | 1 << 12 | 1 << 13 | 1 << 18

TIME = r"\s*(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?:\[(?P<cpu>-?\d+)\])?\s*(?P<time>\d+\.\d+):\s+"
RECORD = re.compile(TIME + r"(?:(?P<rest>PERF_RECORD_.*))$")
SAMPLE = re.compile(TIME + r"(?P<period>\d+)\s+(?P<event>.+?):\s(?P<rest>.*)$")
MAPPING = re.compile(r"PERF_RECORD_MMAP2? (?P<pid>-?\d+)/(?P<tid>-?\d+): "
                     r"\[(?P<start>\w+)\((?P<size>\w+)\) @ (?P<offset>\w+)"
                     r"(?: (?P<inode>[\w:]+ \d+ \d+)| <(?P<build_id>\w*)>)?\]: "
                     r"(?P<protection>\S+) (?P<path>.*)$")
COMMAND = re.compile(r"PERF_RECORD_COMM(?P<exec> exec)?: (?P<name>.*):(?P<pid>-?\d+)/(?P<tid>-?\d+)$")
TASK = re.compile(r"PERF_RECORD_(?P<kind>FORK|EXIT)\((?P<pid>-?\d+):(?P<tid>-?\d+)\):"
                  r"\((?P<ppid>-?\d+):(?P<ptid>-?\d+)\)$")
RAW_SAMPLE = re.compile(r".*?\s?(?P<time>\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\(IP, 0x\w+\): "
                        r"(?P<pid>-?\d+)/(?P<tid>-?\d+): (?P<ip>\w+) period: ")
RAW_NOTE = re.compile(r".*?\s?(?P<time>\d+) 0x\w+ \[0x\w+\]: "
                      r"PERF_RECORD_(?P<kind>LOST_SAMPLES|THROTTLE|UNTHROTTLE)\b.*?(?P<value>\d*)$")
RAW_CHAIN = re.compile(r"\.{5}\s+\d+: (\w{16})$")
RAW_REGISTER = re.compile(r"\.{4} \w+\s+0x(\w+)$")
SWITCH = re.compile(r"PERF_RECORD_SWITCH(?:_CPU_WIDE)? (?P<way>IN|OUT(?: preempt)?)\b")
LOST = re.compile(r"PERF_RECORD_LOST\s+lost (?P<value>\d+)$")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape",
                          stdin=subprocess.DEVNULL, check=False)


class Dump:
    """The lines of dump_perf_data, as dictionaries of their fields."""

    def __init__(self, program, path):
        result = run(program, path)
        self.failure = result.stderr.strip() if result.returncode != 0 else None
        self.records, self.events, self.header = [], [], []
        self.is_pipe = self.has_build_ids = False
        for line in result.stdout.split("\n"):
            kind, _, rest = line.partition(" ")
            if kind == "event":
                self.events.append(int(re.search(r"sample_type=0x(\w+)", rest)[1], 16))
            elif kind == "build_id":
                build_id, path = rest.split(" ", 3)[2:]
                # perf shows ids of 16 bytes with the zeros behind them.
                self.header.append(("build_id", build_id.ljust(40, "0"), path))
                self.has_build_ids = True
            elif kind == "info":
                self.is_pipe |= rest.startswith("pipe=1")
                self.header += self.header_line(rest)
            elif kind:
                self.records.append((kind, self.fields(rest)))
        self.has_raw = any(event & RAW for event in self.events)

    @staticmethod
    def header_line(text):
        name, _, value = text.partition("=")
        # What the file does not say is NULL, or 0 where it is a number.
        is_said = value not in (("0", "") if name in NUMBERS else ("(null)", ""))
        if name in HEADER and is_said:
            yield (HEADER[name], value)
        elif name == "numa node":
            node, total, free, cpus = re.match(r"(\d+) total=(\d+) free=(\d+) cpus=(.*)", value).groups()
            yield (f"node{node} meminfo", f"total = {total} kB, free = {free} kB")
            yield (f"node{node} cpu list", cpus)

    @staticmethod
    def fields(text):
        # The last field may hold anything.
        first, name, last = re.match(r"(.*?)(?:^|\s)((?:event|path|name)=)(.*)$", text).groups() \
            if re.search(r"(?:^|\s)(?:event|path|name)=", text) else (text, "", "")
        found = dict(word.split("=", 1) for word in first.split())
        if name:
            found[name[:-1]] = last
        return found

    def unnamed(self):
        """All but the events' names, which a swapped file does not have."""
        return [(kind, {name: value for name, value in fields.items() if name != "event"})
                for kind, fields in self.records]

    def has(self, bits):
        return all(event & bits for event in self.events)


def in_nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    return str(int(seconds) * 10**9 + int(fraction.ljust(9, "0")))


def protection_bits(text):
    """perf prints r-xp; of a MMAP record only the x."""
    return sum(bit for letter, bit in zip("rwx", (1, 2, 4)) if letter in text)


def wanted_sample(fields, names):
    """Of a dumped sample, what perf script can be asked for."""
    out = [("sample", fields["time"], fields["pid"], fields["tid"], fields["ip"],
            fields["period"], fields["event"])]
    for name in names:
        value = fields["branches" if name == "brstack" else name]
        out.append((name, value))
    return tuple(out)


def wanted(dump, names):
    """The dump in the form that perf_script() gives."""
    for kind, fields in dump.records:
        time = fields["time"]
        if kind == "sample":
            yield wanted_sample(fields, names)
        elif kind == "mapping":
            # perf script prints no times where the record has none, and shows x alone for MMAP.
            yield ("mapping", time, fields["pid"], fields["tid"], fields["start"], fields["size"],
                   fields["offset"], str(int(fields["protection"])), fields["build_id"],
                   fields.get("inode", ""), fields["path"])
        elif kind == "comm":
            yield ("comm", time, fields["pid"], fields["tid"], fields["exec"], fields["name"])
        elif kind in ("fork", "exit"):
            yield (kind, time, fields["pid"], fields["tid"], fields["ppid"], fields["ptid"])
        elif kind == "lost":
            yield (kind, time, fields["value"])
        elif kind == "switch":
            yield (kind, time, fields["tid"], fields["way"])


def inode_of(text):
    """As the dump has it; memory that is of no file has inode 0, which the dump leaves out."""
    words = text.split()
    return "" if len(words) < 2 or words[1] == "0" else "/".join(words)


def parsed_record(match):
    time, rest = in_nanoseconds(match["time"]), match["rest"]
    if found := MAPPING.match(rest):
        bits = protection_bits(found["protection"])
        # A MMAP record has no protection: perf prints "r" for data and "x" for code.
        if rest.startswith("PERF_RECORD_MMAP "):
            bits = 5 if "x" in found["protection"] else 1
        return ("mapping", time, found["pid"], found["tid"],
                *(f"{int(found[name], 16):x}" for name in ("start", "size", "offset")),
                str(bits), found["build_id"] or "",
                inode_of(found["inode"] or ""), found["path"])
    if found := COMMAND.match(rest):
        return ("comm", time, found["pid"], found["tid"], str(int(bool(found["exec"]))),
                found["name"])
    if found := TASK.match(rest):
        return (found["kind"].lower(), time, *(found[n] for n in ("pid", "tid", "ppid", "ptid")))
    if found := LOST.match(rest):
        return ("lost", time, found["value"])
    if found := SWITCH.match(rest):
        return ("switch", time, match["tid"], "-".join(found["way"].split()))
    return None


def branch(text):
    """from/to/P/-/-/0, and in newer perf more behind."""
    return "/".join(text.split("/")[:6])


def parsed_sample(match, names):
    """Fields behind the event stand in perf's own order, whatever was asked for."""
    words = match["rest"].split()
    values = {"cpu": str(int(match["cpu"] or -1))}
    if "addr" in names:
        values["addr"] = words.pop(0)
    if "data_src" in names:
        # 10668100842 |OP LOAD|LVL L3 hit|...; the weight follows the last bar.
        values["data_src"] = words.pop(0)
        text = " ".join(words)
        words = text[text.rfind("|") + 1:].split() if "|" in text else words
        # What the last bar ends in: words that are no numbers.
        while words and not re.fullmatch(r"[0-9a-f]+", words[0]):
            words.pop(0)
    for name in ("weight", "ins_lat"):
        if name in names:
            values[name] = words.pop(0)
    ip = words.pop(0)
    if "brstack" in names:
        values["brstack"] = ",".join(branch(word) for word in words if "/" in word)
    if "phys_addr" in names:
        values["phys_addr"] = words[-1]
    out = [("sample", in_nanoseconds(match["time"]), match["pid"], match["tid"], ip,
            match["period"], match["event"])]
    out += [(name, values[name]) for name in names]
    return tuple(out)


def perf_script(path, names):
    """What perf says, and the lines of it that nobody understood."""
    fields = ["pid", "tid", "time", "event", "ip", "period"] + names
    result = run("perf", "script", "-f", "-i", path, "--ns", "--no-inline", "-G", "--no-itrace",
                 "--show-mmap-events", "--show-task-events", "--show-lost-events",
                 "--show-switch-events",
                 "-F", ",".join(fields))
    found, strange = [], []
    for line in filter(str.strip, result.stdout.split("\n")):
        if match := RECORD.match(line):
            record = parsed_record(match)
        else:
            match = SAMPLE.match(line)
            record = parsed_sample(match, names) if match else None
        found.append(record) if record else strange.append(line)
    return found, strange, result.stderr


def raw_of_dump(dump):
    """Of each sample, what stands in it besides numbers; and records that only -D shows."""
    for kind, fields in dump.records:
        if kind in ("lost_samples", "throttle", "unthrottle"):
            value = fields["value"] if kind == "lost_samples" else ""
            yield (kind.upper(), fields["time"], value)
        elif kind == "sample" and dump.has_raw:
            chain = [f"{int(ip, 16):x}" for ip in fields.get("callchain", "").split(",") if ip]
            words = ",".join(filter(None, (fields.get("uregs"), fields.get("iregs"))))
            yield (fields["time"], fields["pid"], fields["tid"], fields["ip"], ",".join(chain),
                   ",".join(word[2:] for word in words.split(",") if word),
                   fields.get("stack", "0"))


def raw_of_perf(path, has_raw):
    """The same from perf's raw dump."""
    result = run("perf", "script", "-f", "-D", "--no-itrace", "-i", path)
    samples, notes = [], []
    for line in result.stdout.split("\n"):
        if match := RAW_SAMPLE.match(line):
            samples.append(([match["time"], match["pid"], match["tid"], f"{int(match['ip'], 16):x}"],
                            [], [], ["0"]))
        elif match := RAW_NOTE.match(line):
            notes.append((match["kind"], match["time"], match["value"]))
        elif not line.startswith("...") or not samples:
            continue
        elif match := RAW_CHAIN.match(line):
            samples[-1][1].append(f"{int(match[1], 16):x}")
        elif match := RAW_REGISTER.match(line):
            samples[-1][2].append(f"{int(match[1], 16):x}")
        elif match := re.match(r"\.\.\. ustack: size (\d+)", line):
            samples[-1][3][0] = match[1]
    if not has_raw:
        return notes
    return notes + [(*fixed, ",".join(chain), ",".join(registers), stack[0])
                    for fixed, chain, registers, stack in samples]


def header_of_perf(path, has_build_ids):
    result = run("perf", "script", "-f", "--header-only", "-I", "-i", path)
    found = []
    for line in result.stdout.split("\n"):
        match = re.match(r"# ([\w ]+?)\s*:\s+(.*?)\s*$", line)
        if match and (match[1] in HEADER.values() or match[1].startswith("node")):
            value = match[2].removesuffix(" kB") if match[1] == "total memory" else match[2]
            found += [(match[1], value)] if value else []
    # Without a table, perf lists what it meets in mappings.
    if not has_build_ids:
        return found
    result = run("perf", "buildid-list", "-f", "-i", path)
    return found + [("build_id", *line.split(" ", 1)) for line in result.stdout.split("\n") if line]


class Report:
    def __init__(self):
        self.n = 0
        self.has_failed = False

    def say(self, is_ok, name, *details):
        self.n += 1
        self.has_failed |= not is_ok
        print(f"{'ok' if is_ok else 'not ok'} {self.n} {name}", flush=True)
        for detail in details:
            print(f"# {detail}")


def without_errors_of_perf(record):
    """What perf 6.1 gets wrong of the other byte order left out: the protection of MMAP2, which it
    does not swap, and precise_ip, whose two bits it takes from two bytes the wrong way round."""
    if record[0] == "mapping":
        return (*record[:7], "", *record[8:])
    if record[0][0] == "sample":
        return ((*record[0][:-1], record[0][-1].split(":")[0]), *record[1:])
    return record


def compare(report, dump_program, path, name, is_swapped=False):
    dump = Dump(dump_program, path)
    if dump.failure:
        report.say(False, name, dump.failure)
        return
    names = [field for field, bits in FIELDS.items() if dump.has(bits)]
    ours = list(wanted(dump, names))
    theirs, strange, stderr = perf_script(path, names)
    ours += raw_of_dump(dump)
    theirs += raw_of_perf(path, dump.has_raw)
    if not dump.is_pipe:
        ours += dump.header
        theirs += header_of_perf(path, dump.has_build_ids)
    if is_swapped:
        ours = [without_errors_of_perf(record) for record in ours]
        theirs = [without_errors_of_perf(record) for record in theirs]
    mine, others = collections.Counter(ours), collections.Counter(theirs)
    counts = collections.Counter(kind for kind, _ in dump.records)
    details = [f"only lode: {record}" for record in list((mine - others).elements())[:5]]
    details += [f"only perf: {record}" for record in list((others - mine).elements())[:5]]
    details += [f"not understood: {line}" for line in strange[:5]]
    if not theirs:
        details.append(f"perf said nothing: {stderr[:300]}")
    report.say(not details, f"{name}: {', '.join(f'{n} {k}' for k, n in sorted(counts.items()))}; "
               f"header; {' '.join(names)}{' and the raw dump' if dump.has_raw else ''}", *details)


def compare_stored(report, dump_program, directory, scratch):
    files = sorted(f for f in os.listdir(directory) if f.endswith(".perf.data.zst"))
    for file in files:
        path = os.path.join(scratch, file[:-4])
        subprocess.run(["zstd", "-q", "-d", os.path.join(directory, file), "-o", path], check=True)
        if "corrupted" in file:
            failure = Dump(dump_program, path).failure
            report.say(bool(failure) and "at offset" in failure, f"{file}: an error", failure)
            continue
        # With its branch stacks perf takes its time.
        if os.environ.get("LODE_LONG_TESTS") or not file.startswith("lbr_"):
            compare(report, dump_program, path, file)
        if file.removesuffix(".perf.data.zst") in SWAPPED:
            with open(path, "rb") as old, open(path + ".swapped", "wb") as new:
                new.write(swap_file(old.read()))
            name = f"{file}, bytes swapped"
            # lode reads both as one, and the original as perf does: that perf reads both as one is
            # perf's to test, and takes it long.
            if os.environ.get("LODE_LONG_TESTS"):
                compare(report, dump_program, path + ".swapped", name, is_swapped=True)
            same = Dump(dump_program, path).unnamed() == \
                Dump(dump_program, path + ".swapped").unnamed()
            report.say(same, f"{name}: as the original")


# These are also compared in the byte order of another machine.
SWAPPED = ("armv7-3.4", "callgraph-3.8", "lbr_sort_program", "lost_samples-4.4", "remmap-3.2",
           "weight_struct")
RECORDINGS = {
    "plain": ["-e", "cpu-clock:u"],
    "call chains": ["-g", "-e", "cpu-clock:u"],
    "user registers": ["--user-regs=ip,sp,ax", "-e", "cpu-clock:u"],
    "interrupt registers": ["-I", "-e", "cpu-clock:u"],
    "data addresses": ["-d", "-W", "-e", "page-faults:u", "-c", "1"],
    "compressed": ["-z", "-g", "-F", "20000", "-e", "cpu-clock:u"],
    "two events": ["-e", "cpu-clock:u,page-faults:u"],
    "stacks": ["--call-graph", "dwarf,1024", "-e", "cpu-clock:u"],
    "build-ids in mappings": ["--buildid-mmap", "-e", "cpu-clock:u"],
    "pipe": ["-o", "-", "-e", "cpu-clock:u"],
    "pipe, two events": ["-o", "-", "-e", "cpu-clock:u,page-faults:u"],
    "pipe, compressed": ["-o", "-", "-z", "-e", "cpu-clock:u"],
}
PROGRAM = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; /bin/true; cat /dev/null"


def record(options, path):
    command = ["perf", "record", "-N", "-q", "-F", "4000"] if "-c" not in options else \
        ["perf", "record", "-N", "-q"]
    target = [] if "-o" in options else ["-o", path]
    with open(path, "wb") as out:
        result = subprocess.run(command + target + options + ["--", "sh", "-c", PROGRAM],
                                stdout=out if "-o" in options else subprocess.DEVNULL,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    return result.stderr.decode(errors="replace") if result.returncode != 0 else None


def compare_recorded(report, dump_program, scratch):
    for name, options in RECORDINGS.items():
        path = os.path.join(scratch, "own.perf.data")
        if os.path.exists(path):
            os.unlink(path)
        if failure := record(options, path):
            report.say(True, f"recorded, {name} # SKIP {failure.strip()[:100]!r}")
        else:
            compare(report, dump_program, path, f"recorded, {name}")


def main():
    dump_program, directory = sys.argv[1:]
    if not shutil.which("perf"):
        print("1..0 # SKIP perf is not installed")
        return 0
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        if os.path.isdir(directory) and shutil.which("zstd"):
            compare_stored(report, dump_program, directory, scratch)
        else:
            report.say(True, f"stored recordings # SKIP no {directory}, or no zstd")
        compare_recorded(report, dump_program, scratch)
    print(f"1..{report.n}")
    return 1 if report.has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
