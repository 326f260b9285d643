#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Members of random structures, by programs that know which member each access is to.

  tests/e2e/known_members.py LODE [SEED ...] [--build COMPILER-LEVEL ...] [--table | --shares] [--keep DIR]

A seed makes a program: structures with nested ones, arrays, unions and bit fields, in global
arrays, in allocated ones, in arrays in structures, in flexible arrays and (C++) in vectors. Each
function accesses one member, or two that lie apart, of elements chosen at random or in order. The
program prints where its arrays lie, so that each access that windows of it show with its true
address has one right name. Counted are accesses with the right member, with a vague name (the type
or variable without a member, bit fields that share bytes, a union without a member) and with a
wrong member, as shares of all accesses to the arrays, and operands with a wrong name. Prints TAP;
skips where nothing can be sampled.

With --shares, a timer samples a program that waits for three members of random elements of a large
array in 60, 25 and 15 of 100 rounds; printed are the members' shares of the samples that have one of
them, and the share of all samples that have.
"""
import argparse
import collections
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SCALARS = {
    "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4,
    "unsigned": 4, "long": 8, "unsigned long": 8, "float": 4, "double": 8, "void *": 8,
}  # fmt: skip
BUILDS = [f"{compiler}-O{level}" for compiler in ("gcc", "clang", "g++", "clang++") for level in range(4)]
ELEMENTS = 64

Owner = collections.namedtuple("Owner", "keyword name")  # of members: a structure; name None: it has none
Component = collections.namedtuple("Component", "owner name dimensions")
Leaf = collections.namedtuple("Leaf", "components type bits is_union")
# An array of structures: how a function gets it (parameter, argument), its elements are accessed,
# and its first one is found; `path` is that of an array inside of a structure.
Container = collections.namedtuple("Container", "number kind type path parameter argument access base")


class Structure:
    """A structure or union: its declaration, and its innermost members."""

    def __init__(self, program, depth, is_union=False, is_anonymous=False):
        self.program, self.chance, self.depth, self.is_union = program, program.random, depth, is_union
        name = None if is_anonymous else f"{'U' if is_union else 'S'}{program.number()}"
        self.owner = Owner("union" if is_union else "struct", name)
        self.leaves, self.lines = [], []
        if is_union:  # one integer and one floating-point member of a size, others of other sizes
            kinds = [["int", "unsigned"], ["float"], ["long", "void *"], ["double"], ["short"]]
            for scalars in [self.chance.choice(one) for one in self.chance.sample(kinds, 3)]:
                self.add_member([scalars])
        else:
            for _ in range(self.chance.randint(2, 7)):
                self.add_member(list(SCALARS))
        self.body = " ".join(self.lines)
        if name is not None:
            form = self.chance.choice(["", "", "", "__attribute__((packed))", "__attribute__((aligned(64)))"])
            if depth < 2 or is_union:
                form = ""
            program.types.append(f"{self.owner.keyword} {name} {{ {self.body} }} {form};")

    def add_member(self, scalars):
        chance = self.chance
        member = f"m{self.program.number()}"
        kind = chance.random()
        dimensions = []
        if chance.random() < (0.1 if self.is_union else 0.25):
            dimensions = [chance.choice([2, 3, 4, 5, 8]) for _ in range(chance.choice([1, 1, 1, 2]))]
        suffix = "".join(f"[{n}]" for n in dimensions)
        if self.depth > 0 and not self.is_union and kind < 0.3:
            self.add_nested(Component(self.owner, member, dimensions), suffix)
        elif not self.is_union and kind < 0.4:
            for bits in chance.choice([[3, 5], [4, 9, 3], [12, 20], [1, 7, 16, 8]]):
                self.add_leaf(f"m{self.program.number()}", "unsigned", f" : {bits}", bits=bits)
        else:
            scalar = scalars[0] if self.is_union else chance.choice(scalars)
            self.add_leaf(member, scalar, suffix, dimensions)

    def add_leaf(self, name, scalar, suffix, dimensions=(), bits=0):
        self.lines.append(f"{scalar} {name}{suffix};")
        self.leaves.append(Leaf([Component(self.owner, name, dimensions)], scalar, bits, self.is_union))

    def add_nested(self, own, suffix):
        is_union, is_anonymous = self.chance.random() < 0.5, self.chance.random() < 0.3
        inner = Structure(self.program, self.depth - 1, is_union, is_anonymous)
        if is_anonymous:
            self.lines.append(f"{inner.owner.keyword} {{ {inner.body} }};")
        else:
            self.lines.append(f"{inner.owner.keyword} {inner.owner.name} {own.name}{suffix};")
        for leaf in inner.leaves:
            first, *rest = leaf.components
            outer = [first._replace(owner=self.owner)] if is_anonymous else [own, first]
            self.leaves.append(leaf._replace(components=outer + rest))


class Program:
    """A program as text, and what its functions access."""

    def __init__(self, seed, is_cplusplus, kinds=None):
        self.random = random.Random(seed)
        self.numbers = 0
        self.types, self.variables, self.functions, self.starts, self.calls = [], [], [], [], []
        self.targets = {}  # function → (container, names that are right for each target)
        self.is_cplusplus = is_cplusplus
        if kinds is None:
            last = "vector" if is_cplusplus else "local"
            kinds = ["global", "heap", "box", "flexible", "global", "heap", last]
        for i, kind in enumerate(kinds):
            self.add_container(i, kind)

    def number(self):
        self.numbers += 1
        return self.numbers

    def add_container(self, i, kind):
        structure = Structure(self, 2)
        s = f"struct {structure.owner.name}"
        if kind in ("box", "flexible"):
            box, count = f"struct B{i}", ELEMENTS if kind == "box" else ""
            self.types.append(f"{box} {{ int n{i}; {s} items{i}[{count}]; }};")
            self.variables.append(f"{box} *c{i};")
            self.starts.append(f"c{i} = ({box} *)calloc(1, sizeof({box}) + {ELEMENTS} * sizeof({s}));")
            path = [Component(Owner("struct", f"B{i}"), f"items{i}", [ELEMENTS])]
            array = Container(i, kind, s, path, f"{box} *p", f"c{i}", f"p->items{i}[INDEX]", f"c{i}->items{i}")
        elif kind == "heap":
            self.variables.append(f"{s} *c{i};")
            self.starts.append(f"c{i} = ({s} *)calloc({ELEMENTS}, sizeof({s}));")
            array = Container(i, kind, s, [], f"{s} *p", f"c{i}", "p[INDEX]", f"c{i}")
        elif kind == "vector":
            self.variables.append(f"std::vector<{s}> v{i}({ELEMENTS}); {s} *c{i};")
            self.starts.append(f"c{i} = v{i}.data();")
            array = Container(i, kind, s, [], f"std::vector<{s}> &p", f"v{i}", "p[INDEX]", f"c{i}")
        else:
            self.variables.append(f"{s} c{i}[{ELEMENTS}];")
            array = Container(i, kind, s, [], "void", "", f"c{i}[INDEX]", f"c{i}")
        self.starts.append(f'printf("container {i} %p %zu\\n", (void *){array.base}, sizeof({s}));')
        for leaf in self.random.sample(structure.leaves, min(5, len(structure.leaves))):
            other = [self.random.choice(structure.leaves)] if self.random.random() < 0.3 else []
            self.add_function(array, [leaf, *other])

    def expression(self, leaf):
        text = ""
        for k, component in enumerate(leaf.components):
            text += f".{component.name}"
            for n, dimension in enumerate(component.dimensions):
                at = self.random.choice([f"(r >> {20 + 3 * k + n}) % {dimension}", str(dimension - 1)])
                text += f"[{at}]"
        return text

    def statement(self, place, leaf):
        kind = self.random.choice(["read", "read", "write", "change"])
        if leaf.type == "void *":
            return f"sum += (unsigned long){place};" if kind == "read" else f"{place} = (void *)r;"
        if kind == "read":
            return f"total += {place};" if leaf.type in ("float", "double") else f"sum += (unsigned long){place};"
        return f"{place} = ({leaf.type})(r >> 9);" if kind == "write" else f"{place} += 3;"

    def names(self, leaf, path):
        components = [*path, *leaf.components]
        texts = [component.name + ("[]" if component.dimensions else "") for component in components]
        names = set()
        for k, component in enumerate(components):
            if component.owner.name is not None:
                names.add(f"{component.owner.keyword} {component.owner.name}.{'.'.join(texts[k:])}")
        return names

    def add_function(self, array, leaves):
        name, base, s = f"f{len(self.functions)}", array.base, array.type
        form = self.random.choice(["random", "random", "modulo", "walk", "step"])
        # two members are told apart by their offsets: arrays and bit fields are accessed alone
        if any(leaf.bits or leaf.is_union or any(c.dimensions for c in leaf.components) for leaf in leaves):
            leaves = leaves[:1]
        index = {
            "random": f"(r >> 33) & {ELEMENTS - 1}",
            "modulo": "(r >> 33) % 61",
            "walk": "i",
            "step": f"i * 7 % {ELEMENTS}",
        }[form]
        element = array.access.replace("INDEX", index) + "."
        loop = f"for (unsigned long i = 0; i < {ELEMENTS}; i++)"
        if form == "walk" and array.kind in ("heap", "global", "local") and self.random.random() < 0.7:
            start = "p" if array.kind == "heap" else base
            element, loop = "q->", f"for ({s} *q = {start}; q < {start} + {ELEMENTS}; q++)"
        body = [self.statement(element + self.expression(leaf)[1:], leaf) for leaf in leaves]
        self.functions.append(
            f"NOINLINE void {name}({array.parameter})\n{{\n\tunsigned long r = seed, sum = 0; double total = 0;\n\t"
            f"for (int n = 0; n < 3; n++)\n\t{loop} {{ r = r * 6364136223846793005UL + 1442695040888963407UL; "
            f"{' '.join(body)} }}\n\tseed = r; sink += sum; fsink += total;\n}}\n"
        )
        self.calls.append(f"{name}({array.argument});")
        for leaf in leaves if len(leaves) == 2 else []:
            self.starts.append(
                f'printf("offset {name} %zu %zu\\n", (size_t)((char *)&{base}[0]{self.expression(leaf)} - '
                f'(char *){base}), sizeof({base}[0]{self.expression(leaf)}));'
            )
        self.targets[name] = (array.number, [(self.names(leaf, array.path), leaf.bits) for leaf in leaves])

    def text(self):
        parts = [
            "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>",
            "#include <vector>" if self.is_cplusplus else "",
            "#define NOINLINE __attribute__((noinline))",
            "unsigned long seed = 88172645463325252UL, sink; double fsink;",
            *self.types,
            *self.variables,
            'extern "C" {' if self.is_cplusplus else "",
            *self.functions,
            "}" if self.is_cplusplus else "",
            "static double now(void)\n{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
            " return t.tv_sec + t.tv_nsec / 1e9; }",
            "int main(int argc, char **argv)\n{\n\tdouble end = now() + atof(argv[1]); (void)argc;\n\t"
            + "\n\t".join(self.starts)
            + "\n\tfflush(stdout);\n\twhile (now() < end) {\n\t\t"
            + "\n\t\t".join(self.calls)
            + "\n\t}\n\treturn 0;\n}\n",
        ]
        return "\n".join(parts)


SAMPLES = """SELECT f.name, s.address, s.size, o.name, o.layer, s.weight, s.access_pc
    FROM memory_sample s JOIN event e ON e.id = s.event LEFT JOIN function f ON f.id = s.access_function
    LEFT JOIN data_object o ON o.id = s.object WHERE e.name = 'window-accesses'"""


def is_vague(found, names, bits):
    """Whether a name has no member, or one of a union or of several that share bytes, which holds the right one."""
    if found is None or "." not in found.replace("...", "") or "@" in found:
        return True
    if any(name.startswith(found + ".") for name in names):
        return True
    owner, _, last = found.rpartition(".")
    return bool(bits) and "/" in last and any(name in names for name in (f"{owner}.{one}" for one in last.split("/")))


class Tally:
    def __init__(self):
        self.right = self.vague = self.wrong = 0
        self.operands, self.vague_operands, self.wrong_operands = set(), set(), set()
        self.wrong_names, self.vague_names = collections.Counter(), collections.Counter()


def with_keywords(name, program):
    """A name as C has it: C++ names a structure without "struct"."""
    if name is None or not program.is_cplusplus:
        return name
    return re.sub(r"^([SUB]\d+)\b", lambda m: ("union " if m[1][0] == "U" else "struct ") + m[1], name)


def tally(profile, output, program):
    containers, offsets, result = {}, collections.defaultdict(list), Tally()
    for line in output.splitlines():
        words = line.split()
        if words[0] == "container":
            containers[int(words[1])] = (int(words[2], 16), int(words[3]))
        elif words[0] == "offset":
            offsets[words[1]].append((int(words[2]), int(words[3])))
    base = sqlite3.connect(profile)
    for function, address, size, found, layer, weight, pc in base.execute(SAMPLES):
        function = re.sub(r"[.(].*", "", function or "")
        if function not in program.targets or address is None:
            continue
        number, targets = program.targets[function]
        begin, stride = containers[number]
        if not begin <= address < begin + stride * ELEMENTS:
            continue
        result.operands.add(pc)
        inside = (address - begin) % stride
        if len(targets) == 2:
            targets = [t for t, (at, n) in zip(targets, offsets[function]) if at <= inside < at + n] or targets
        found = with_keywords(found, program)
        key = f"{function}: {found}, not {' or '.join(max(n, key=len) for n, _ in targets)}"
        if any(found in names for names, _ in targets):
            result.right += weight
        elif any(is_vague(found, *target) for target in targets):
            result.vague += weight
            result.vague_operands.add(pc)
            result.vague_names[key] += weight
        else:
            result.wrong += weight
            result.wrong_operands.add(pc)
            result.wrong_names[key] += weight
    base.close()
    return result


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def measure(lode, seed, build, seconds, options):
    compiler, level = build.rsplit("-", 1)
    is_cplusplus = compiler.endswith("++")
    program = Program(seed, is_cplusplus)
    source = f"m{seed}.{'cc' if is_cplusplus else 'c'}"
    name = f"m{seed}-{build}"
    with open(source, "w") as file:
        file.write(program.text())
    run(compiler, source, f"-{level}", "-g", "-w", "-o", name)
    options = ["--windows", "40%", "--no-page-faults", "-o", f"{name}.lode", *options]
    output = run(lode, "memory", "record", *options, "--", f"./{name}", str(seconds))
    return tally(f"{name}.lode", output, program)


SHARES = """SELECT o.name, sum(s.weight) FROM memory_sample s JOIN event e ON e.id = s.event
    LEFT JOIN data_object o ON o.id = s.object WHERE e.name LIKE '%-clock%' GROUP BY o.name"""


def measure_shares(lode, seed, build):
    compiler, level = build.rsplit("-", 1)
    program = Program(seed, compiler.endswith("++"), kinds=[])
    plain = []
    while len(plain) < 3:
        structure = Structure(program, 2)
        plain = [leaf for leaf in structure.leaves if leaf.bits == 0]
    members = program.random.sample(plain, 3)
    reads = []
    for leaf in members:
        sum_of = "total +=" if leaf.type in ("float", "double") else "sum += (unsigned long)"
        reads.append(f"{sum_of} e->{program.expression(leaf)[1:]};")
    lines = [
        "#include <stdlib.h>\n#include <string.h>",
        *program.types,
        f"typedef struct {structure.owner.name} element;\nunsigned long sink;",
        "int main(void)\n{\n\tunsigned long n = (96UL << 20) / sizeof(element), r = 88172645463325252UL, sum = 0;",
        "\tdouble total = 0;\n\telement *p = (element *)malloc(n * sizeof *p);\n\tmemset((void *)p, 1, n * sizeof *p);",
        "\tfor (long i = 0; i < 9000000; i++) {",
        "\t\tr = (r ^ sum % 3) * 6364136223846793005UL + 1442695040888963407UL;",
        "\t\telement *e = &p[(r >> 30) % n];\n\t\tunsigned k = (r >> 8) % 100;",
        f"\t\tif (k < 60) {{ {reads[0]} }} else if (k < 85) {{ {reads[1]} }} else {{ {reads[2]} }}",
        "\t\tsum += (unsigned long)total & 1;\n\t}\n\tsink = sum;\n\treturn 0;\n}\n",
    ]
    source = f"s{seed}.{'cc' if program.is_cplusplus else 'c'}"
    with open(source, "w") as file:
        file.write("\n".join(lines))
    run(compiler, source, f"-{level}", "-g", "-w", "-o", "shares")
    options = ["-F", "3000", "--allocations", "--no-page-faults", "-o", "shares.lode"]
    run(lode, "memory", "record", *options, "--", "./shares")
    base = sqlite3.connect("shares.lode")
    rows = [(with_keywords(name, program), weight) for name, weight in base.execute(SHARES)]
    base.close()
    weights = [sum(weight for name, weight in rows if name in program.names(leaf, [])) for leaf in members]
    named = max(sum(weights), 1)
    return [100 * weight / named for weight in weights], 100 * named / max(sum(weight for _, weight in rows), 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lode")
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--build", nargs="*", default=BUILDS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--no-allocations", action="store_true", help="blocks are known by the code alone")
    parser.add_argument("--vague", action="store_true", help="show vague names, too")
    parser.add_argument("--keep")
    parser.add_argument("--seconds", default=0.5, type=float)
    arguments = parser.parse_args()
    lode, number = os.path.realpath(arguments.lode), 0
    options = [] if arguments.no_allocations else ["--allocations"]
    directory = arguments.keep or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    trial = subprocess.run([lode, "record", "-o", "trial", "-e", "cpu-clock:u", "--", "true"], capture_output=True)
    if trial.returncode != 0:
        print("1..0 # SKIP nothing can be sampled here")
        return
    for build in arguments.build:
        if arguments.shares:
            for seed in arguments.seeds or [1]:
                shares, named = measure_shares(lode, seed, build)
                texts = [f"{share:.1f}" for share in [*shares, named]]
                print(f"| {build} | {seed} | {' | '.join(texts)} |", flush=True)
            continue
        sums = Tally()
        for seed in arguments.seeds or [1]:
            one = measure(lode, seed, build, arguments.seconds, options)
            for part in "right", "vague", "wrong":
                setattr(sums, part, getattr(sums, part) + getattr(one, part))
            for part in "operands", "vague_operands", "wrong_operands":
                getattr(sums, part).update((seed, pc) for pc in getattr(one, part))
            for part in "wrong_names", "vague_names":
                getattr(sums, part).update({f"seed {seed} {key}": n for key, n in getattr(one, part).items()})
        number += 1
        all_of = max(sums.right + sums.vague + sums.wrong, 1)
        shares = [f"{100 * part / all_of:.1f}" for part in (sums.right, sums.vague, sums.wrong)]
        wrong, vague = len(sums.wrong_operands), len(sums.vague_operands - sums.wrong_operands)
        counts = [len(sums.operands) - vague - wrong, vague, wrong]
        if arguments.table:
            print(f"| {build} | {' | '.join(shares)} | {' | '.join(map(str, counts))} |", flush=True)
        else:
            is_right = sums.right > 0 and sums.wrong == 0
            print(f"{'ok' if is_right else 'not ok'} {number} - {build}: right, vague, wrong", flush=True)
            print(f"# accesses {' '.join(shares)} %, operands {' '.join(map(str, counts))}", flush=True)
        if arguments.vague:
            for name, weight in sums.vague_names.most_common():
                print(f"# vague {100 * weight / all_of:.2f} {name}")
        for name, weight in sums.wrong_names.most_common(12):
            print(f"# {100 * weight / all_of:.2f} {name}")
    if not arguments.table and not arguments.shares:
        print(f"1..{number}")
    if arguments.keep is None:
        shutil.rmtree(directory)


main()
