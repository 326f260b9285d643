#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twins: a program with a cost of one kind planted in sixty functions, and the same without it.

    twins.py KIND SEED SHARE DIRECTORY     KIND may be "all"; SHARE in percent
    twins.py --list

Writes DIRECTORY/KIND-SEED-SHARE.before.c (or .cc) and KIND-SEED-SHARE.after.c, and their row of
DIRECTORY/fixes.tsv, in the form that bench/diagnoses.py reads. The seed chooses the variant of the
cost, and what is around it: other statements in its loop or none, whether it needs the value of the
one before, and what else the functions do (surroundings.py). How much else is found by measuring, so
that the program without the cost takes SHARE less processor time, and the one with it SECONDS.
A kind that cannot reach its share is written with what it reaches, and named.

The kind "none" is a program without a cost: its KIND.before has nothing to be diagnosed.

Either program runs as PROGRAM [FILLER ROUNDS]: iterations of what else a function does in each of its
calls, and rounds through all functions.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kinds  # noqa: E402
import surroundings  # noqa: E402

N_FUNCTIONS = 60
SECONDS = float(os.environ.get("TWIN_SECONDS", "1.25"))
RUNS = 4
TRIAL_SECONDS = 0.12
TRIAL_RUNS = 3
MOST_FILLER = 1 << 20
COMPILE = ["-O2", "-g", "-pthread"]

HEAD = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
$includes
#define NOINLINE __attribute__((noipa))

uint32_t filler = $filler, rounds = $rounds;
static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed * 2685821657736338717u;
}
"""


def indent(text, depth):
    return "".join("\t" * depth + line + "\n" if line else "\n" for line in text.strip("\n").split("\n"))


class Writer:
    """One program; two of the same seed differ by what `side` chooses of each pair alone."""

    def __init__(self, kind, seed, side):
        self.random = random.Random(f"{kind} {seed}")
        self.cost = kinds.KINDS[kind].make(self.random)
        self.side = side
        self.called = {}

    def chosen(self, what):
        return what if isinstance(what, str) else what[self.side]

    def text(self, text, n):
        """A text of surroundings or of a kind in function n: its numbers, and the functions that it calls."""
        text = text.replace("$n", str(n))
        text = re.sub(r"\$k", lambda _: f"0x{self.random.getrandbits(63) | 1:x}u", text)
        for name, body in surroundings.CALLED:
            if "$" + name in text:
                self.called[name] = body
                text = text.replace("$" + name, name)
        return text

    def filling(self, n):
        """Loops whose length is found by measuring."""
        text = ""
        for _ in range(self.random.choice((1, 1, 2))):
            words = self.random.sample(sorted(surroundings.BODIES), self.random.choice((1, 2, 2, 3)))
            bodies = [self.random.choice(surroundings.BODIES[word]) for word in words]
            text += "for (uint64_t j = 0; j < filler; j++) {\n"
            text += "".join("\t{\n" + indent(body, 2) + "\t}\n" for body in bodies) + "}\n"
        return self.text(text, n)

    def costing(self, n, is_straight):
        """The cost: a loop of its own, in a loop with other statements, or once."""
        code = self.chosen(self.cost.code)
        # Drawn for both sides alike.
        lights = self.random.sample(surroundings.LIGHT, self.random.choice((0, 1, 2, 3)))
        joins = self.random.choice(("x += v;", "x ^= v;", "x = (x << 1 | x >> 63) + v;"))
        is_dependent = self.random.random() < 0.4 if self.cost.dependent is None else self.cost.dependent
        state = self.random.getstate()
        if self.cost.loop:
            text = self.text(code, n)
        else:
            value = "x" if is_dependent else self.random.choice(
                ("keys[(i + $n) & 255]", "i * $k", "keys[(i * 3 + $n) & 255] ^ i"))
            text = f"uint64_t v = {value};\n" + code.strip("\n") + "\n" + joins
            light = "\n".join(lights)
            if is_straight:
                text = "{\n" + indent(light + "\n" + text if light else text, 1) + "}"
            else:
                cut = self.random.randrange(len(lights) + 1)
                text = "\n".join(lights[:cut] + [text] + lights[cut:])
                text = f"for (uint32_t i = turn; i < turn + {self.cost.trips}; i++) {{\n" + indent(text, 1) + "}"
            text = self.text(text, n)
        # Texts of different length draw differently; what follows must not.
        self.random.setstate(state)
        self.random.random()
        return text

    def program(self, filler, rounds):
        cost = self.cost
        is_straight = not cost.loop and cost.trips > 1 and self.random.random() < 0.3
        numbers = list(range(1, N_FUNCTIONS + 1))
        words = [(a, b) for a in surroundings.FIRST for b in surroundings.SECOND]
        names = ["_".join(pair) for pair in self.random.sample(words, N_FUNCTIONS)]
        functions = ""
        for n in numbers:
            parts = [self.filling(n), self.costing(n, is_straight)]
            if self.random.random() < 0.5:
                parts.reverse()
            functions += f"\nNOINLINE {cost.attributes} uint64_t {names[n - 1]}(uint64_t x, uint32_t turn)\n{{\n"
            if is_straight:
                functions += "\tuint32_t i = turn;\n"
            functions += indent("\n".join(parts), 1) + "\treturn x;\n}\n"
        self.random.shuffle(numbers)
        calls = "".join(f"\t\tCALL({names[n - 1]})\n" for n in numbers)
        each = f"for (uint32_t k = 0; k < {min(cost.trips, 16)}; k++) x = name(x, turn + k);" if is_straight \
            else "x = name(x, turn);"
        called = "".join(f"\nNOINLINE uint64_t {name}(uint64_t a, uint64_t b)\n{{\n\t" + self.text(body, 0) + "\n}\n"
                         for name, body in sorted(self.called.items()))
        functions = re.sub(r"NOINLINE +", "NOINLINE ", functions)
        head = HEAD.replace("$includes", "".join(f"#include <{name}>\n" for name in cost.includes))
        return (head.replace("$filler", str(filler)).replace("$rounds", str(rounds)) + surroundings.HEAD
                + self.chosen(cost.head) + called + functions + f"\n#define CALL(name) {each} turn += {cost.step};\n"
                + "\nint main(int argc, char **argv)\n{\n\tuint64_t x = 1;\n\tuint32_t turn = 0;\n"
                + "\tif (argc > 2)\n\t\tfiller = (uint32_t)atoi(argv[1]), rounds = (uint32_t)atoi(argv[2]);\n"
                + surroundings.START.strip("\n") + "\n" + indent(self.chosen(cost.start) or "", 1).strip("\n")
                + "\n\tfor (uint32_t round = 0; round < rounds; round++) {\n" + calls
                + '\t}\n\treturn printf("%llu\\n", (unsigned long long)x) < 0;\n}\n')


def compile_program(source, program):
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    subprocess.run([compiler, *COMPILE, "-w", "-o", program, source, "-lm"], check=True)


def processor_time(command):
    """Of one process, user and kernel."""
    pid = os.posix_spawn(command[0], command, os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} ends with status {status}")
    return usage.ru_utime + usage.ru_stime


class Pair:
    def __init__(self, kind, seed, directory):
        self.kind, self.seed, self.directory = kind, seed, directory
        self.cost = kinds.KINDS[kind].make(random.Random(f"{kind} {seed}"))
        self.suffix = ".cc" if self.cost.is_cpp else ".c"
        self.programs = []
        for side in (0, 1) if kind != "none" else (0,):
            source = directory / f"{side}{self.suffix}"
            source.write_text(Writer(kind, seed, side).program(100, 100))
            compile_program(source, directory / str(side))
            self.programs.append(str(directory / str(side)))

    def times(self, filler, rounds, runs):
        """The least time of each side; they take turns, as the machine's load changes."""
        return [min(times) for times in zip(*([processor_time([program, str(filler), str(rounds)])
                                               for program in self.programs] for _ in range(runs)))]

    def round_times(self, filler):
        """Seconds of a round of each side, without what comes before the rounds."""
        rounds = max(1, round(TRIAL_SECONDS / self.round_guess(filler)))
        while True:
            times = [time - self.before for time in self.times(filler, rounds, TRIAL_RUNS)]
            if times[0] > TRIAL_SECONDS / 3:
                return [time / rounds for time in times]
            rounds *= 4

    def calibrate(self, share):
        """Filler and rounds at which the saving is the share, or near it.

        With filler f a round takes a + b·f with the cost and d less without it; where out-of-order
        execution hides either, a and d change with f, so the solution is found again from there.
        """
        self.before = self.times(0, 0, 2)[0]
        self.round_guess = lambda filler: 1e-6 * N_FUNCTIONS
        if self.kind == "none":
            return 100, round(SECONDS / self.round_times(100)[0])
        times = self.round_times(0)
        slope = (self.round_times(128)[0] - times[0]) / 128
        filler, best = 0, (abs(1 - times[1] / times[0] - share), 0, times[0])
        for _ in range(4):
            filler = min(MOST_FILLER, max(0, round(filler + ((times[0] - times[1]) / share - times[0]) / slope)))
            if filler == best[1]:
                break
            self.round_guess = lambda _, time=max(times[0], slope * filler): time
            times = self.round_times(filler)
            best = min(best, (abs(1 - times[1] / times[0] - share), filler, times[0]))
            if best[0] < 0.06 * share:
                break
        return best[1], max(1, round((SECONDS - self.before) / best[2]))


def write_row(directory, row):
    """The row of fixes.tsv, in place of one of the same name."""
    path = directory / "fixes.tsv"
    lines = path.read_text().splitlines() if path.exists() else ["kind\tsaving\tcause\tright\tneeds"]
    lines = [line for line in lines if line.split("\t")[0] != row[0]] + ["\t".join(row)]
    path.write_text("\n".join(lines) + "\n")


def write_twins(kind, seed, share, directory):
    """Writes both and their row; returns what the program without the cost saves, or a reason why not."""
    about = kinds.KINDS[kind]
    if about.lacks and about.lacks():
        return about.lacks()
    directory.mkdir(parents=True, exist_ok=True)
    name = f"{kind}-{seed}-{share:g}"
    with tempfile.TemporaryDirectory() as scratch:
        pair = Pair(kind, seed, pathlib.Path(scratch))
        filler, rounds = pair.calibrate(share / 100)
        times = pair.times(filler, rounds, RUNS)
    for side, word in enumerate(("before", "after")[:len(pair.programs)]):
        (directory / f"{name}.{word}{pair.suffix}").write_text(Writer(kind, seed, side).program(filler, rounds))
    saving = 1 - times[-1] / times[0]
    write_row(directory, [name, f"{100 * saving:.1f}", about.words, about.right, about.needs])
    print(f"{name:28} {times[0]:5.2f} s, saves {100 * saving:5.1f} %  filler {filler} rounds {rounds}"
          + ("" if kind == "none" or 0.7 * share < 100 * saving < 1.4 * share else "  NOT AS WANTED"), flush=True)
    return saving


def main():
    if sys.argv[1:] == ["--list"]:
        for kind, about in kinds.KINDS.items():
            print(f"{kind:18} {about.right:40} {about.words}")
        return
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    for kind in kinds.KINDS if sys.argv[1] == "all" else sys.argv[1].split(","):
        reason = write_twins(kind, int(sys.argv[2]), float(sys.argv[3]), pathlib.Path(sys.argv[4]))
        if isinstance(reason, str):
            print(f"{kind}: skipped, {reason}")


if __name__ == "__main__":
    main()
