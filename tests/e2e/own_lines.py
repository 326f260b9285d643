#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inlined functions of real programs cost what addr2line and the counts say.

  tests/e2e/own_lines.py LODE

Programs of C++ (gcc, clang) and Rust, each with a function of its own that is inlined and calls
functions of the standard library, are counted. For each executed instruction addr2line names the
lines and the functions through which its code was inlined; from these the inclusive cost of each
line and of the function is summed up, and what `lode annotate` says must be the same. Each line
that names a place must be the innermost one outside of the toolchain. Prints TAP.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LODE = os.path.abspath(sys.argv[1])
CACHE = """#include <string>
#include <vector>
struct Cache {
	std::vector<std::string> keys;
	long find(const std::string &key) const
	{
		for (size_t i = 0; i < keys.size(); i++)
			if (keys[i] == key)
				return (long)i;
		return -1;
	}
};
"""
MAIN = """#include "cache.hpp"
#include <cstdio>
static Cache cache;
__attribute__((noinline)) static long worker(const std::vector<std::string> &asked)
{
	long sum = 0;
	for (const std::string &key : asked)
		sum += cache.find(key);
	return sum;
}
int main()
{
	for (int i = 0; i < 100; i++)
		cache.keys.push_back("a key " + std::to_string(i * 79 % 101));
	std::vector<std::string> asked(cache.keys.rbegin(), cache.keys.rend());
	printf("%ld\\n", worker(asked) + worker(cache.keys));
}
"""
RUST = """struct Cache { keys: Vec<u64> }
impl Cache {
    fn find(&self, key: u64) -> Option<usize> {
        self.keys.iter().position(|&k| k == key)
    }
}
#[inline(never)]
fn worker(cache: &Cache, asked: &[u64]) -> usize {
    let mut sum = 0;
    for &key in asked {
        sum += cache.find(key).unwrap_or(1);
    }
    sum
}
fn main() {
    let keys: Vec<u64> = (0..300).map(|i| i * 79 % 1009).collect();
    let cache = Cache { keys: keys.clone() };
    println!("{}", worker(&cache, &keys));
}
"""
TOOLCHAIN = ("/usr/include/", "/usr/lib/", "/rustc/")
number = 0


def annotate(*words):
    result = subprocess.run([LODE, "annotate", "x.lode", *words, "--format", "json"], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(f"annotate {' '.join(words)}: {result.stderr}")
    return json.loads(result.stdout)


def frames_of(program, addresses):
    """For each address the functions and lines of addr2line, the innermost first."""
    output = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", program], text=True, check=True,
                            input="".join(f"{address}\n" for address in addresses), capture_output=True).stdout
    frames, lines = {}, output.splitlines()
    for line in lines:
        if line.startswith("0x"):
            frames[int(line, 16)] = current = []
        else:
            current.append(line)
    return {address: [(found[i], *place(found[i + 1])) for i in range(0, len(found), 2)]
            for address, found in frames.items()}


def place(text):
    path, _, line = text.split(" ")[0].rpartition(":")
    return os.path.realpath(path), int(line) if line.isdigit() else 0


def is_own(path):
    return not path.startswith(TOOLCHAIN) and "/rustlib/src/" not in path


def check_program(program, source, function):
    """`source`: whose lines are compared; `function`: one that is inlined."""
    subprocess.run([LODE, "run", "--exact", "--fast", "-o", "x.lode", "--", program], check=True,
                   capture_output=True)
    database = __import__("sqlite3").connect("x.lode")
    rows = database.execute("SELECT i.address, i.count FROM instruction i JOIN function f ON f.id = i.function "
                            "JOIN image g ON g.id = f.image WHERE g.path = ?", (program,)).fetchall()
    total = database.execute("SELECT sum(count) FROM instruction").fetchone()[0]
    frames = frames_of(program, [hex(address) for address, _ in rows])
    costs, function_cost = {}, 0
    for address, count in rows:
        through = frames[address]
        for line in {line for _, path, line in through if path == source and line > 0}:
            costs[line] = costs.get(line, 0) + count
        if any(function in name for name, _, _ in through):
            function_cost += count
    assert function_cost > 10000, "the function costs too little to say anything"
    for line, cost in costs.items():
        shown = sum(one["share"] for one in annotate("line", f"{os.path.basename(source)}:{line}")["places"])
        assert abs(shown - cost / total) < 1e-9, f"line {line}: {shown}, not {cost / total}"
    found = annotate("function", function)
    shown = sum(one["share"] for one in found["places"])
    assert abs(shown - function_cost / total) < 1e-9, f"{function}: {shown}, not {function_cost / total}"
    n_through = 0
    for one in found["places"][0]["instructions"]:
        through = frames.get(int(one["address"], 16))
        if through is None or one["file"] is None:
            continue
        own = next(((path, line) for _, path, line in through if is_own(path) and line > 0), None)
        if own is not None:
            # clang names files by the folder where it was called.
            shown = (os.path.basename(one["file"]), one["line"])
            assert shown == (os.path.basename(own[0]), own[1]), f"{one['address']}: {shown}, not {own}"
            n_through += len(through) > 1 and not is_own(through[0][1])
    assert n_through > 0, "nothing of the toolchain is inlined there"
    return len(costs)


def check_memory(program):
    """The misses of each line, as `lode memory --by place` has them; and whether --own '*' gives the innermost lines."""
    subprocess.run([LODE, "trace", "record", "-o", "t.rps", "--", program], check=True, capture_output=True)
    subprocess.run([LODE, "import", "t.rps", "--simulate", "d1=1K:2:64", "-o", "m.lode"], check=True, capture_output=True)
    database = __import__("sqlite3").connect("m.lode")
    misses = database.execute("SELECT i.address, c.value FROM cost c JOIN event e ON e.id = c.event "
                              "JOIN instruction i ON i.id = c.instruction JOIN function f ON f.id = i.function "
                              "JOIN image g ON g.id = f.image WHERE e.name LIKE 'sim-d1-%-miss' AND g.path = ?", (program,)).fetchall()
    frames = frames_of(program, [hex(address) for address, _ in misses])
    found = []
    for is_wanted, options in ((is_own, []), (lambda path: True, ["--own", "*"])):
        expected, shown = {}, {}
        for address, value in misses:
            own = next((one for one in frames[address] if is_wanted(one[1]) and one[2] > 0), frames[address][0])
            if own[2] > 0:
                name = f"{os.path.basename(own[1])}:{own[2]}"
                expected[name] = expected.get(name, 0) + value
        command = [LODE, "memory", "m.lode", "--by", "place", "--where", f"image == '{program}'", "--event", "l1d-miss",
                   "--format", "json", *options]
        for row in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]:
            if row["kind"] == "value":
                name = os.path.basename(row["keys"][0])
                shown[name] = shown.get(name, 0) + row["weight"]
        # In code of the toolchain alone addr2line and lode may take different lines of the innermost function.
        own_files = os.listdir(os.path.dirname(program))
        differing = {name for name in {*expected, *shown}
                     if name.split(":")[0] in own_files and abs(expected.get(name, 0) - shown.get(name, 0)) > 1e-6}
        assert not differing, f"{options}: " + ", ".join(f"{one}: {shown.get(one)}, not {expected.get(one)}" for one in differing)
        found.append(expected)
    assert found[0] != found[1], "no access of the toolchain is inlined there"
    command = [LODE, "trace", "simulate", "t.rps", "--cache", "d1=1K:2:64", "--by", "line", "--event", "l1d-miss", "--format", "json"]
    simulated = {}
    for row in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]:
        name = os.path.basename(row["name"])
        simulated[name] = simulated.get(name, 0) + row["value"]
    for name, value in found[0].items():
        if name.split(":")[0] in own_files:
            assert simulated.get(name) == value, f"trace simulate, {name}: {simulated.get(name)}, not {value}"


def check(name, compile_command, sources, function):
    global number
    number += 1
    compiler = compile_command[0]
    if shutil.which(compiler) is None or shutil.which("addr2line") is None:
        print(f"ok {number} - {name} # SKIP no {compiler} or addr2line")
        return
    folder = pathlib.Path(name.split(" ")[0]).absolute()
    folder.mkdir()
    for source, text in sources.items():
        (folder / source).write_text(text)
    try:
        program = str(folder / "program")
        subprocess.run([*compile_command, "-o", program], cwd=folder, check=True, capture_output=True)
        lines = check_program(os.path.realpath(program), os.path.realpath(folder / next(iter(sources))), function)
        check_memory(os.path.realpath(program))
        print(f"ok {number} - {name}: {lines} lines")
    except (AssertionError, subprocess.CalledProcessError) as error:
        print(f"not ok {number} - {name}")
        print("# " + str(getattr(error, "stderr", None) or error).replace("\n", "\n# "))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    cxx = {"cache.hpp": CACHE, "main.cpp": MAIN}
    check("gcc -O2", ["g++", "-O2", "-g", "main.cpp"], cxx, "Cache::find")
    check("clang -O2", ["clang++", "-O2", "-g", "-gdwarf-4", "main.cpp"], cxx, "Cache::find")
    check("rustc -O", ["rustc", "-O", "-g", "main.rs"], {"main.rs": RUST}, "Cache::find")
print(f"1..{number}")
sys.stdout.flush()
