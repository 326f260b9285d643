#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever the names in a recording are, no verb prints a byte that a terminal acts upon.

  tests/e2e/hostile_names.py LODE CORPUS CC

Names with escape codes, a bell, C1 controls, text direction marks and bytes that are not UTF-8 stand
wherever a recording has a name: in a flow file, a callgrind file and its ELF file, attributes, a
placement, a database that is not a profile; and in the names of CORPUS (tests/fuzz/corpus), whose
letters are overwritten. Each is given to the verbs that read it. Prints TAP.
"""

import os
import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata

LODE, CORPUS, CC = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), shlex.split(sys.argv[3])
HOSTILE = b"a\x1b[31mb\x07\xc2\x9b2Jc\xe2\x80\xaed\xe2\x80\xa8\xff\x7f=\x08e\r"
LINE_BREAK = b"\nlode: forged\n"
failures = []
n_runs = 0


def harm_in(output, categories):
    """What a terminal would act upon, or what is not UTF-8, in words; None: nothing."""
    try:
        text = output.replace(b"\r\n", b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {output[max(0, error.start - 60):error.end + 20]!r}"
    for at, character in enumerate(text):
        is_control = unicodedata.category(character) in categories
        if is_control and character not in "\n\t":
            return f"{text[max(0, at - 60):at + 20]!r}"
    return None


def lode(*words):
    """Runs a verb and looks at what it prints; gives its status."""
    global n_runs
    done = subprocess.run(
        [LODE, *words], capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    n_runs += 1
    for name, output in (("stdout", done.stdout), ("stderr", done.stderr)):
        # A flow file has names as they are: by its form, anything but control characters.
        is_flow = words[0] == "export" and "--format" not in words
        harm = harm_in(output, "Cc" if is_flow else "Cc Cf Zl Zp")
        if harm is None and re.search(rb"(?m)^lode: forged", output):
            harm = "a line that the recording made"
        if harm is not None:
            failures.append(f"lode {' '.join(map(repr, words))}: {name}: {harm}")
    if done.returncode < 0:
        failures.append(f"lode {' '.join(map(repr, words))}: signal {-done.returncode}")
    return done.returncode


def views(profile, forms=("text", "json", "csv")):
    """Every verb that reads a profile."""
    name = os.fsdecode(HOSTILE.replace(b"\r", b""))
    lode("mine", profile, "--min-support", "0.0001", "--min-functions", "1", "--max-sequences", "300")
    lode("mine", profile, "--instructions", "--min-count", "0", "--name", "opcodes")
    for form in forms:
        lode("info", profile, "--format", form)
        lode("report", profile, "--format", form)
        lode("report", profile, "--findings", "--format", form)
        lode("report", profile, "--format", form, "--all", "--limit", "20")
        lode("report", profile, "opcodes", "--format", form)
        lode("annotate", profile, "1", "--format", form)
        lode("annotate", profile, "F1", "--run", "main", "--format", form)
        lode("annotate", profile, "line", name + ":1", "--run", "main", "--format", form)
        for function in "", name:  # of all, whose names the refusal lists
            lode("annotate", profile, "function", function, "--run", "main", "--format", form)
            lode("report", profile, "--callers", function, "--format", form)
        lode("report", profile, "--callees", "0", "--format", form)
        lode("report", profile, "--functions", "--format", form)
        lode("memory", profile, "--format", form)
        for view in ("--by", "object"), ("--by", "thread"), ("--first-touch",), ("--coverage",):
            lode("memory", profile, *view, "--format", form)
    if lode("signature", profile, "--name", "hostile", "-o", "hostile.sig") == 0:
        for form in forms:
            lode("classify", profile, "--signatures", ".", "--format", form)
        os.remove("hostile.sig")
    lode("annotate", profile, "1", "--run", "opcodes")
    lode("memory", profile, "--layout", "node")
    lode("memory", profile, "--where", "nothing = 1")
    lode("export", profile)
    for form in "callgrind", "folded", "firefox":
        lode("export", profile, "--format", form)
    lode("export", profile, "--weight", "no such event")
    lode("report", profile, "--sort", "event:none" + LINE_BREAK.decode())
    lode("report", profile, "no such run")
    lode("place", profile, "-o", "made.place")
    lode("place", profile, "--format", "csv", "--topology", "numa:2 pu:2")
    if os.path.exists("made.place"):
        lode("place", "export", "made.place", "--as", "c", "--topology", "numa:2 pu:2")


def import_and_view(*files, **options):
    if lode("import", *files, "-o", "x.lode") == 0:
        views("x.lode", **options)
        os.remove("x.lode")


def flow_file():
    """Names without control characters, as the form demands, but with all else; then with them."""
    quiet = b"=a\xe2\x80\xaed\xe2\x80\xa8"
    for name in quiet, HOSTILE, HOSTILE.replace(b"\r", b""):
        lines = [b"lode-flow 1", b"event " + name, b"graph " + name,
                 b"v " + name + b" 1000 100 op:" + name + b" kind:load",
                 b"v add 100 100 op:add", b"e " + name + b" add 100", b"e add " + name + b" 99",
                 b"x " + name + b" miss" + name + b" 60"]
        for n in 3, 4, len(lines):
            pathlib.Path("names.flow").write_bytes(b"\n".join(lines[:n]) + b"\n")
            # Of what has a header alone, JSON and CSV have no name that they do not have of the whole.
            import_and_view("names.flow", forms=("text", "json", "csv") if n == len(lines) else ("text",))


def callgrind_of_elf():
    """An ELF file whose symbols, source file and own name are hostile, and counts of its code."""
    path = os.fsencode(os.getcwd()) + b"/" + HOSTILE + LINE_BREAK.replace(b" ", b"")[:5] + b".elf"
    stand_in = "Q" * len(HOSTILE)
    source = (f"void {stand_in}(int *a) {{ for (int i = 0; i < 100; i++) a[i] += a[i + 1]; }}\n"
              f"int main(void) {{ static int b[200]; {stand_in}(b); return 0; }}\n")
    pathlib.Path(stand_in + ".c").write_text(source)
    subprocess.run([*CC, "-g", "-O1", "-o", "plain.elf", stand_in + ".c"], check=True)
    elf = pathlib.Path("plain.elf").read_bytes().replace(stand_in.encode(), HOSTILE)
    pathlib.Path(os.fsdecode(path)).write_bytes(elf)
    symbols = subprocess.run(["nm", path], capture_output=True, check=True).stdout
    address = int(next(l for l in symbols.split(b"\n") if HOSTILE[:3] in l).split()[0], 16)
    name = HOSTILE.replace(b"\r", b"")
    rows = b"".join(b"0x%x %d 10 %d\n" % (address + i, i + 1, 5) for i in (0, 4))
    for shown in path, name:
        pathlib.Path("callgrind.out.1").write_bytes(
            b"version: 1\ncreator: callgrind" + name + b"\npid: 1\ncmd: " + name +
            b"\npart: 1\n\ndesc: I1 cache: " + name + b"\npositions: instr line\nevents: Ir " +
            b"Ev" + b"\nsummary: 20 10\n\nob=" + shown.split(b"\n")[0] +
            b"\nfl=" + name + b"\nfn=" + name + b"\n" + rows)
        import_and_view("callgrind.out.1", forms=("text", "json", "csv") if shown == path else ("text",))
    for verb in ("info", "report", "mine", "annotate", "memory", "export"):
        lode(verb, os.fsdecode(path))
    lode("import", os.fsdecode(path), "-o", "x.lode")
    lode("place", "apply", os.fsdecode(path), "--", "true")
    lode("trace", "info", os.fsdecode(path))
    lode("trace", "pack", os.fsdecode(path), "-o", "x.rps")
    lode(os.fsdecode(HOSTILE))
    lode("info", "--" + os.fsdecode(HOSTILE))


def database():
    """A database that is not a profile, and one whose schema SQLite does not understand."""
    name = HOSTILE.decode("utf-8", "ignore") + LINE_BREAK.decode()
    for is_broken in False, True:
        base = sqlite3.connect("schema.lode")
        base.execute("PRAGMA application_id = 0x6c6f6465")
        base.execute(f'CREATE TABLE "{name}{is_broken}" (x)')
        if is_broken:
            base.execute("PRAGMA writable_schema = 1")
            base.execute("UPDATE sqlite_master SET sql = ?", ("CREATE " + name,))
        base.commit()
        base.close()
        for verb in "info", "report", "mine", "memory", "export", "place":
            lode(verb, "schema.lode")
        lode("annotate", "schema.lode", "1")
    os.remove("schema.lode")


def placement():
    """Names of objects that are not there, ignored commands, and what is not a command."""
    name = HOSTILE.replace(b"\r", b"")
    for line in b'place object "%s" on memory 0', b"mode %s", b"policy data %s", b"place %s", b"%s":
        pathlib.Path("x.place").write_bytes(b"memories 1\nthreads 1\n" + line % name + b"\n")
        for form in "numactl", "hwloc", "c":
            lode("place", "export", "x.place", "--as", form, "--topology", "numa:1 pu:1")
        lode("place", "apply", "x.place", "--", "true")


def corpus():
    """Each recording with the letters of its names overwritten; magic words stay. Their profiles
    as text alone: as JSON and CSV, names of the same kinds have been above, and are in a soak."""
    forms = ("text", "json", "csv") if "LODE_LONG_TESTS" in os.environ else ("text",)

    def overwrite(match):
        word = match.group()
        return word[:1] + (HOSTILE * 20)[:len(word) - 2] + word[-1:]

    for kind in "perf_data", "trace_file", "store":
        for path in sorted((CORPUS / kind).iterdir()):
            recording = path.read_bytes()
            pathlib.Path("recording").write_bytes(
                recording[:16] + re.sub(rb"[A-Za-z/_.][A-Za-z0-9/_.\[\]-]{5,}", overwrite,
                                        recording[16:]))
            if kind == "store":
                views("recording")
                continue
            import_and_view("recording", forms=forms)
            lode("trace", "info", "recording")
            lode("trace", "unpack", "recording", "--as", "csv")
            lode("trace", "simulate", "recording", "--cache", "cachegrind")


cases = [flow_file, callgrind_of_elf, database, placement, corpus]
print(f"1..{len(cases)}")
has_failed = False
for number, case in enumerate(cases, 1):
    failures.clear()
    n_runs = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        case()
        os.chdir("/")
    has_failed |= bool(failures)
    print(f"{'not ok' if failures else 'ok'} {number} - {case.__name__}: {n_runs} runs", flush=True)
    for failure in failures[:20]:
        print(f"# {failure}".encode("unicode_escape").decode())
sys.exit(has_failed)
