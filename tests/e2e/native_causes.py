#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causes in compiled programs, whose leaves alone would say another: each program spends most of
its time in one line, and the first diagnosis names its cause, a line and a remedy. Their neighbours
have the same leaves for another reason. Prints TAP; skips where the kernel lets nobody sample, and
those for which there is no compiler.

  tests/e2e/native_causes.py LODE
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

COMPILERS = {"cc": ["c++", "-std=c++17", "-O2", "-g"], "rs": ["rustc", "-O", "-g"]}

MAP = """#include <cstdio>
#include <map>
#include <string>
using Stock = std::map<std::string, int>;
struct Store {
    Stock stock_;
    __attribute__((noinline)) Stock stock() const { return stock_; }
};
int main() {
    Store store;
    long sum = 0;
    for (int i = 0; i < 3000; i++)
        store.stock_["a long name of article " + std::to_string(i)] = i;
    for (int i = 0; i < 2500; i++)
        sum += store.stock().size();
    printf("%ld\\n", sum);
}
"""

TABLE = """#include <cstdio>
#include <vector>
struct Game { std::vector<std::vector<int>> cells; };
__attribute__((noinline)) static int look(const Game &game, int y) {
    auto cells = game.cells;
    return cells[y][y];
}
int main() {
    Game game;
    long sum = 0;
    game.cells.assign(64, std::vector<int>(64, 1));
    for (int i = 0; i < 400000; i++)
        sum += look(game, i % 64);
    printf("%ld\\n", sum);
}
"""

CLONE = """use std::collections::HashMap;
#[derive(Clone)]
struct World {
    names: Vec<String>,
    rows: HashMap<String, Vec<u32>>,
}
#[inline(never)]
fn step(world: &World, k: usize) -> usize {
    let copy = world.clone();
    copy.names.len() + copy.rows.len() + k
}
fn main() {
    let mut world = World { names: Vec::new(), rows: HashMap::new() };
    for i in 0..1000u32 {
        world.names.push(format!("name {}", i));
        world.rows.insert(format!("row {}", i), vec![i]);
    }
    println!("{}", (0..10000).map(|k| step(&world, k)).sum::<usize>());
}
"""

LAMBDA = """#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <vector>
__attribute__((noinline)) static std::string folded(std::string text) {
    for (char &c : text)
        c = (char)tolower(c);
    return text;
}
static void order(std::vector<std::string> &names) {
    std::sort(names.begin(), names.end(), [](const std::string &a, const std::string &b) {
        return folded(a) < folded(b);
    });
}
int main() {
    std::vector<std::string> names;
    unsigned r = 5;
    for (int i = 0; i < 100000; i++)
        names.push_back("Customer of the Town " + std::to_string(r = r * 1664525u + 1013904223u));
    order(names);
    printf("%s\\n", names[0].c_str());
}
"""

ROWS = """#include <cstdio>
#include <cstdlib>
struct row { char date[24]; int amount; };
__attribute__((noinline)) static long number(const char *text) {
    int day, month, year;
    sscanf(text, "%d.%d.%d", &day, &month, &year);
    return (year * 12L + month) * 31 + day;
}
static int by_date(const void *a, const void *b) {
    long x = number(((const row *)a)->date), y = number(((const row *)b)->date);
    return x < y ? -1 : x > y;
}
int main() {
    enum { N = 200000 };
    row *rows = new row[N];
    unsigned r = 9;
    for (int i = 0; i < N; i++) {
        r = r * 1664525u + 1013904223u;
        snprintf(rows[i].date, 24, "%02d.%02d.%d", 1 + (r >> 8) % 28, 1 + (r >> 14) % 12, r >> 20);
    }
    qsort(rows, N, sizeof *rows, by_date);
    printf("%s\\n", rows[0].date);
}
"""

NAMES = """#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
int main() {
    unsigned r = 5;
    size_t sum = 0;
    for (int i = 0; i < 3000; i++) {
        std::vector<std::string> names;
        for (int k = 0; k < 300; k++)
            names.push_back("the customer " + std::to_string(r = r * 1664525u + 1013904223u));
        std::sort(names.begin(), names.end(),
                  [](const std::string &a, const std::string &b) { return a < b; });
        sum += names[0].size();
    }
    printf("%zu\\n", sum);
}
"""

KEYS = """use std::collections::HashSet;
#[derive(PartialEq, Eq, Hash)]
struct State { boxes: Vec<(i32, i32)> }
fn main() {
    let mut seen: HashSet<State> = HashSet::new();
    for i in 0..500 {
        seen.insert(State { boxes: (0..64).map(|k| (i, k)).collect() });
    }
    let mut hits = 0;
    let mut state = State { boxes: (0..64).map(|k| (0, k)).collect() };
    for i in 0..1500000 {
        state.boxes[0].0 = i % 500;
        hits += seen.contains(&state) as u32;
    }
    println!("{}", hits);
}
"""

MADE = """#include <cstdio>
#include <map>
#include <string>
__attribute__((noinline)) static size_t distinct(unsigned seed) {
    std::map<std::string, int> seen;
    for (int i = 0; i < 200; i++) {
        seed = seed * 1664525u + 1013904223u;
        seen["a long name of article " + std::to_string(seed >> 24)]++;
    }
    return seen.size();
}
int main() {
    size_t sum = 0;
    for (int i = 0; i < 25000; i++)
        sum += distinct(i);
    printf("%zu\\n", sum);
}
"""

FIELDS = """#include <cstdio>
#include <sstream>
#include <string>
__attribute__((noinline)) static double total(const std::string &line) {
    std::stringstream cells(line);
    std::string cell;
    double sum = 0;
    while (std::getline(cells, cell, ',')) {
        double value;
        std::stringstream(cell) >> value;
        sum += value;
    }
    return sum;
}
int main() {
    double sum = 0;
    for (int i = 0; i < 60000; i++)
        sum += total("12.5,13.25,14.125,9.5,8.75,100.5");
    printf("%g\\n", sum);
}
"""

ONE_STREAM = """#include <cstdio>
#include <sstream>
#include <string>
int main() {
    std::string text;
    for (int i = 0; i < 1500000; i++)
        text += std::to_string(i) + " ";
    std::istringstream in(text);
    long value, sum = 0;
    while (in >> value)
        sum += value;
    printf("%ld\\n", sum);
}
"""

FLUSH = """#include <fstream>
#include <iostream>
int main() {
    std::ofstream out("numbers.txt");
    for (int i = 0; i < 1200000; i++)
        out << i << FLUSHED;
    std::cout << out.good() << "\\n";
}
"""

PARTICLES = """#include <cstdio>
#include <string>
#include <vector>
struct Particle { double x, vx; std::string tag; };
__attribute__((noinline)) static double energy(std::vector<Particle> group) {
    double sum = 0;
    for (const auto &one : group)
        sum += one.vx * one.vx;
    return sum;
}
int main() {
    std::vector<Particle> all(1000, {1, 2, "a particle of the first group"});
    double sum = 0;
    for (int frame = 0; frame < 8000; frame++) {
        all[frame % 1000].vx += 0.5;
        sum += energy(all);
    }
    printf("%g\\n", sum);
}
"""

SPIN = """#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
std::atomic<int> ready;
__attribute__((noinline)) static long collect() {
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        while (ready.load() <= i)
            ;
        sum += i;
    }
    return sum;
}
int main() {
    std::thread maker([] {
        for (int i = 1; i <= 20; i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            ready = i;
        }
    });
    printf("%ld\\n", collect());
    maker.join();
}
"""

MEDIAN = """#include <algorithm>
#include <cstdio>
#include <vector>
struct Median {
    std::vector<double> values;
    void add(double value) {
        values.push_back(value);
        std::sort(values.begin(), values.end());
    }
};
int main() {
    Median median;
    unsigned seed = 1;
    for (int i = 0; i < 6000; i++)
        median.add((seed = seed * 1664525u + 1013904223u) >> 8);
    printf("%g\\n", median.values[3000]);
}
"""

SORTED = """#include <algorithm>
#include <cstdio>
#include <vector>
int main() {
    std::vector<unsigned> values(12000000);
    unsigned seed = 1;
    for (unsigned &value : values)
        value = seed = seed * 1664525u + 1013904223u;
    std::sort(values.begin(), values.end());
    printf("%u\\n", values[17]);
}
"""

EDGES = """struct Edge { from: usize, to: usize }
#[inline(never)]
fn neighbours(edges: &[Edge], node: usize) -> Vec<usize> {
    edges.iter().filter(|e| e.from == node).map(|e| e.to).collect()
}
fn main() {
    let n = 3000;
    let edges: Vec<Edge> = (0..n * 5).map(|i| Edge { from: i % n, to: i * 7919 % n }).collect();
    let mut sum = 0;
    for node in 0..100_000 { sum += neighbours(&edges, node % n).len(); }
    println!("{sum}");
}
"""

TAIL = """#include <cstdio>
struct Event { int kind; Event *next; };
struct Timeline { Event *first; };
__attribute__((noinline)) static void append(Timeline &line, int kind) {
    Event **at = &line.first;
    while (*at != nullptr)
        at = &(*at)->next;
    *at = new Event{kind, nullptr};
}
int main() {
    Timeline line = {nullptr};
    for (int i = 0; i < 25000; i++)
        append(line, i);
    printf("%d\\n", line.first->next->kind);
}
"""

FRONT = """#include <cstdio>
#include <string>
int main() {
    size_t sum = 0;
    for (int k = 0; k < 20; k++) {
        std::string digits;
        for (int i = 0; i < 40000; i++)
            digits = char('0' + i * k % 10) + digits;
        sum += digits.size() + digits[k];
    }
    printf("%zu\\n", sum);
}
"""

KEYS_OF_TEXT = """#include <cstdio>
#include <string>
#include <unordered_map>
static const char *const names[] = {"temperature/kitchen/ceiling/north", "humidity/bathroom/wall/left",
    "pressure/roof/antenna/upper-section", "temperature/cellar/floor/south-east"};
static std::unordered_map<std::string, double> values;
__attribute__((noinline)) static double get(const std::string &name) {
    auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}
int main() {
    double sum = 0;
    for (const char *name : names)
        values[name] = 1.5;
    for (int i = 0; i < 20000000; i++)
        sum += get(names[i & 3]);
    printf("%g\\n", sum);
}
"""

ORBITS = """#include <cmath>
#include <cstdio>
struct Orbit { double a, e, m; };
struct Place { double x, y; };
__attribute__((noinline)) static Place place_of(const Orbit *orbit, double time) {
    double angle = orbit->m + time / orbit->a;
    for (int i = 0; i < 5; i++)
        angle -= (angle - orbit->e * std::sin(angle) - orbit->m) / (1 - orbit->e * std::cos(angle));
    return {orbit->a * std::cos(angle), orbit->a * std::sin(angle)};
}
int main() {
    enum { N = 1000 };
    static Orbit orbits[N];
    for (int i = 0; i < N; i++)
        orbits[i] = {7000.0 + i, 0.01 + i * 1e-6, i * 0.1};
    int near = 0;
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) {
            Place a = place_of(&orbits[i], 60);
            Place b = place_of(&orbits[j], 60);
            near += std::hypot(a.x - b.x, a.y - b.y) < 50;
        }
    printf("%d\\n", near);
}
"""

MOVED = """#include <cmath>
#include <cstdio>
struct Plant { double heat; double level[8]; };
__attribute__((noinline)) static double cost(const Plant &plant) {
    double sum = 0;
    for (double level : plant.level)
        sum += std::exp(-level * level) + plant.heat;
    return sum;
}
__attribute__((noinline)) static void step(Plant &plant, int i) {
    plant.heat *= 0.999;
    plant.level[i & 7] += 0.01;
}
int main() {
    Plant plant = {20, {}};
    double sum = 0;
    for (int i = 0; i < 3000000; i++) {
        sum += cost(plant);
        step(plant, i);
    }
    printf("%g\\n", sum);
}
"""

PATHS = """#include <cstdio>
#include <vector>
struct Grid {
    int width;
    std::vector<int> costs;
    long best(int x, int y) const {
        if (x < 0 || y < 0)
            return 1 << 20;
        long cost = costs[y * width + x];
        if (x == 0 && y == 0)
            return cost;
        long left = best(x - 1, y), up = best(x, y - 1);
        return cost + (left < up ? left : up);
    }
};
int main() {
    Grid grid{16, {}};
    for (int i = 0; i < 16 * 16; i++)
        grid.costs.push_back(i * 7919 % 97);
    printf("%ld\\n", grid.best(15, 15));
}
"""

TREE = """#include <cstdio>
struct Node { Node *left, *right; int value; };
static Node *make(int depth) {
    return depth < 0 ? nullptr : new Node{make(depth - 1), make(depth - 1), depth};
}
static long sum(const Node *node) {
    return node == nullptr ? 0 : node->value + sum(node->left) + 2 * sum(node->right);
}
int main() {
    Node *root = make(16);
    long all = 0;
    for (int i = 0; i < 400; i++) {
        all += sum(root);
        root->value++;
    }
    printf("%ld\\n", all);
}
"""

# Name, suffix of the source, its text, the cause, what the title and the remedy say, and the lines
# of which the place is one. In place of the cause of a neighbour what no title may say.
COPIES = "copies of objects"
PROGRAMS = [
    ("a map that is returned by value", "cc", MAP, "service-allocator", COPIES, "reference", (7, 15)),
    ("a table that auto copies", "cc", TABLE, "service-allocator", COPIES, "reference", (4, 5, 7)),
    ("a structure that is cloned", "rs", CLONE, "service-allocator", COPIES, "reference", (9, 11)),
    ("a lambda that folds texts", "cc", LAMBDA, "repeated-work", "compute keys", "key once", (12, 13)),
    ("streams for each field", "cc", FIELDS, "service-stdio", "for each text", "from_chars", (5, 10)),
    ("lines that are flushed", "cc", FLUSH.replace("FLUSHED", "std::endl"), "service-stdio",
     "flushes", "full buffer", (6,)),
    ("particles by value", "cc", PARTICLES, "service-allocator", COPIES, "reference", (15, 16)),
    ("a loop that waits", "cc", SPIN, "lock", "waiting", "condition variable", (9, 10)),
    ("a median by sorting", "cc", MEDIAN, "service-sort", "again and again", "Sort once", (7, 8)),
    ("edges that are filtered", "rs", EDGES, "linear-search", "searches", "hash table", (4,)),
    ("a list without its end", "cc", TAIL, "pointer-chase", "node to node", "last node", (6, 7)),
    ("a text that grows in front", "cc", FRONT, "service-string", "grow", "Append", (8,)),
    ("keys made of texts", "cc", KEYS_OF_TEXT, "service-string", "std::string", "string_view", (16,)),
    ("places that pairs compute", "cc", ORBITS, "repeated-work", "same calls", "each element", (18, 19, 20, 21)),
    ("paths without memory", "cc", PATHS, "repeated-work", "recursion", "memoisation", range(6, 14)),
    ("dates parsed by qsort", "cc", ROWS, "repeated-work", "compute keys", "key once", (10,)),
]
NEIGHBOURS = [("a map that is made", "cc", MADE, COPIES),
              ("one stream", "cc", ONE_STREAM, "for each text"),
              ("a plant that changes", "cc", MOVED, "same calls"),
              ("a tree", "cc", TREE, "recursion"),
              ("a single sort", "cc", SORTED, "again and again"),
              ("lines without flushes", "cc", FLUSH.replace("FLUSHED", "'\\n'"), "flushes"),
              ("long keys of a good hash", "rs", KEYS, "in one bucket"),
              ("texts made before a sort", "cc", NAMES, "compute keys")]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)


def diagnoses_of(lode, suffix, text):
    """The diagnoses of a program's run, or what kept it from running."""
    with open("main." + suffix, "w", encoding="utf-8") as source:
        source.write(text)
    for command in ([*COMPILERS[suffix], "main." + suffix, "-o", "program"],
                    [lode, "run", "-o", "program.lode", "--", "./program"]):
        done = run(*command)
        if done.returncode != 0:
            return done.stderr[-400:]
    return json.loads(run(lode, "report", "program.lode", "--format", "json").stdout)["diagnoses"]


def told(one):
    scope = one["scope"]
    return (f"{one['cause']}: {one['title']} at {os.path.basename(scope.get('file') or '')}:"
            f"{scope.get('line')}: {one['remedy']}")


def fault_of(lode, suffix, text, cause, title, remedy, lines):
    """What is wrong with the first diagnosis; None: nothing."""
    found = diagnoses_of(lode, suffix, text)
    if isinstance(found, str) or not found:
        return found or "no diagnosis"
    first = found[0]
    is_right = (first["cause"] == cause and title in first["title"] and
                re.search(remedy, first["remedy"]) and first["scope"].get("line") in lines)
    return None if is_right else told(first)


def fault_of_neighbour(lode, suffix, text, title):
    found = diagnoses_of(lode, suffix, text)
    if isinstance(found, str):
        return found
    wrong = [told(one) for one in found if title in one["title"]]
    return wrong[0] if wrong else None


def main():
    lode = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if run(lode, "record", "-o", "true.data", "--", "/bin/true").returncode != 0:
            print("1..0 # SKIP nobody may sample here")
            return
        cases = ([(fault_of, *one) for one in PROGRAMS] +
                 [(fault_of_neighbour, *one) for one in NEIGHBOURS])
        print(f"1..{len(cases)}")
        for number, (check, name, suffix, *rest) in enumerate(cases, 1):
            if not shutil.which(COMPILERS[suffix][0]):
                print(f"ok {number} - {name} # SKIP no {COMPILERS[suffix][0]}")
                continue
            fault = check(lode, suffix, *rest)
            print(f"{'not ' if fault else ''}ok {number} - {name}")
            if fault:
                print("# " + fault.replace("\n", "\n# "))


main()
