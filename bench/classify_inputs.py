#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inputs of bench/classify.sh, from seeds: four of each kind, which differ in what they hold and not
only in their seed.

    classify_inputs.py DIRECTORY

text.N words.N code.N.c rows.N numbers.N write.N.sql read.N.sql data.N.json, N from 1 to 4
"""
import random
import struct
import sys

WORDS = [400, 3000, 12000, 40000]


def word(rng):
    return "".join(rng.choice("etaoinshrdlucmfwypvbgk") for _ in range(1 + int(rng.expovariate(0.22))))


def prose(rng, n_words, n_bytes):
    words = [word(rng) for _ in range(n_words)]
    out, size = [], 0
    while size < n_bytes:
        line = " ".join(words[int(len(words) * rng.random() ** 3)] for _ in range(rng.randint(4, 14)))
        out.append(line)
        size += len(line) + 1
    return "\n".join(out) + "\n"


def table(rng, n_bytes):
    out, size, t = ["time,host,value,state"], 0, 1700000000
    while size < n_bytes:
        t += rng.randint(1, 40)
        line = f"{t},node{rng.randint(1, 60)},{rng.gauss(50, 12):.3f},{rng.choice(['ok', 'ok', 'ok', 'late', 'lost'])}"
        out.append(line)
        size += len(line) + 1
    return "\n".join(out) + "\n"


def records(rng, n_bytes):
    out, size, at = [], 0, 0
    while size < n_bytes:
        at += rng.randint(1, 300)
        out.append(struct.pack("<IHHd", at, rng.randint(0, 20), rng.randint(0, 65535), rng.gauss(0, 1)))
        size += 16
    return b"".join(out)


def function_arrays(rng, i):
    return (f"int a{i}(const int *v, int n)\n{{\n\tint s = {rng.randint(1, 99)};\n"
            f"\tfor (int i = 0; i < n; i++)\n\t\ts += v[i] * (s ^ i) >> {rng.randint(1, 7)};\n\treturn s;\n}}\n")


def function_text(rng, i):
    return (f"char *t{i}(char *p, const char *q)\n{{\n\twhile (*q) {{\n\t\tif (*q == '{rng.choice('abcxyz')}')\n"
            f"\t\t\t*p++ = (char)(*q - {rng.randint(1, 9)});\n\t\telse if (*q > '{rng.choice('mnop')}')\n\t\t\t*p++ = *q;\n\t\tq++;\n\t}}\n"
            "\t*p = 0;\n\treturn p;\n}\n")


def function_tree(rng, i):
    return (f"struct n{i} {{ struct n{i} *l, *r; long key[{rng.randint(1, 5)}]; }};\n"
            f"long d{i}(struct n{i} *n, long k)\n{{\n\tif (!n)\n\t\treturn {rng.randint(0, 9)};\n"
            f"\tif (n->key[0] < k)\n\t\treturn d{i}(n->r, k) + 1;\n\treturn d{i}(n->l, k) + n->key[0] % {rng.randint(3, 30)};\n}}\n")


def function_switch(rng, i):
    cases = "".join(f"\tcase {c}:\n\t\treturn x * {rng.random():.4f} + {rng.randint(0, 50)};\n" for c in range(rng.randint(4, 14)))
    return f"double s{i}(int k, double x)\n{{\n\tswitch (k) {{\n{cases}\t}}\n\treturn x / (k + {rng.randint(1, 9)});\n}}\n"


KINDS = [function_arrays, function_text, function_tree, function_switch]


def code(rng, n, main_kind):
    return "".join((KINDS[main_kind] if rng.random() < 0.5 else rng.choice(KINDS))(rng, i) for i in range(n))


def inserts(rng, n, n_words):
    words = [word(rng) for _ in range(n_words)]
    return [f"INSERT INTO t VALUES({i}, {rng.randint(0, n)}, '{rng.choice(words)}', {rng.gauss(0, 100):.2f});" for i in range(n)]


def write_load(rng, n, n_words):
    lines = ["CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, x REAL);", "CREATE INDEX tk ON t(k);", "BEGIN;"]
    lines += inserts(rng, n, n_words)
    for i in range(n // 4):
        lines.append(f"UPDATE t SET x = x + 1, k = {rng.randint(0, n)} WHERE id = {rng.randint(0, n)};" if i % 3 else
                     f"DELETE FROM t WHERE id = {rng.randint(0, n)};")
    return "\n".join(lines + ["COMMIT;"]) + "\n"


def read_load(rng, n, n_words):
    lines = ["CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, x REAL);", "BEGIN;",
             f"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000) INSERT INTO t SELECT i, i * {rng.randint(3, 99)} % 991, 'w' || i % {n_words}, i * 0.5 FROM c;",
             "COMMIT;"]
    for _ in range(n):
        k = rng.randint(0, 990)
        lines.append(rng.choice([
            f"SELECT sum(x), count(*) FROM t WHERE k BETWEEN {k} AND {k + 50};",
            f"SELECT name, avg(x) FROM t WHERE id > {3 * k} GROUP BY name ORDER BY 2 DESC LIMIT 3;",
            f"SELECT count(*) FROM t WHERE name LIKE 'w{k % 10}%';"]))
    return "\n".join(lines) + "\n"


def document(rng, n):
    rows = ",\n".join(f'{{"id":{i},"name":"{word(rng)}","tags":["{word(rng)}","{word(rng)}"],"at":{{"x":{rng.random():.5f},"y":{rng.randint(-99, 99)}}}}}'
                      for i in range(n))
    return "[" + rows + "]\n"


def main():
    directory = sys.argv[1]

    def write(name, data):
        with open(f"{directory}/{name}", "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())

    for n in range(4):
        rng = random.Random(1000 + n)
        source = code(rng, 160, n)
        size = 600000
        kinds = [lambda: prose(rng, 5000, size), lambda: table(rng, size), lambda: code(rng, 2600, 1), lambda: records(rng, size)]
        write(f"text.{n + 1}", kinds[n]())
        write(f"words.{n + 1}", prose(rng, WORDS[n], 500000))
        write(f"code.{n + 1}.c", source)
        write(f"rows.{n + 1}", table(rng, 500000))
        write(f"numbers.{n + 1}", "\n".join(str(rng.randint(0, 10 ** (3 + 2 * n))) for _ in range(60000)) + "\n")
        write(f"write.{n + 1}.sql", write_load(rng, 5000, WORDS[n]))
        write(f"read.{n + 1}.sql", read_load(rng, 70, 20 + 30 * n))
        write(f"data.{n + 1}.json", document(rng, 3000 + 500 * n))


if __name__ == "__main__":
    main()
