# SPDX-License-Identifier: MIT
"""What the functions of a twin do besides the planted cost: work that waits for nothing in particular.

A text has $n, the number of its function, and $k, an odd constant of its own. BODIES are iterations of
a loop over j whose results are added to x, one independent of the other; LIGHT are statements that
stand beside the cost in its loop over i.
"""

HEAD = """
struct cell {
	int32_t width, height;
	uint32_t seen;
	float weight;
};
uint64_t keys[256];
uint32_t table[256];
int32_t values[1024];
unsigned char text[1024];
struct cell cells[256];
double levels[256];
int32_t grid[16][16];
"""

START = """
	for (uint32_t i = 0; i < 1024; i++) {
		values[i] = (int32_t)(random_word() >> 44);
		text[i] = (unsigned char)"the quick brown fox jumps over a lazy dog, "[i % 43];
		keys[i & 255] = random_word();
		table[i & 255] = (uint32_t)random_word();
		levels[i & 255] = (double)(i & 63) + 0.5;
		cells[i & 255].width = (int32_t)i;
	}
"""

CALLED = [
    ("blend", "return (a ^ a >> 17) * $k + b;"),
    ("scale", "return (a & 0xffffff) * 77 + (b << 3) - (a >> 40);"),
    ("pick", "return table[(a + b) & 255] ^ a >> 5;"),
    ("place", "return (uint64_t)(values[b & 1023] + (int64_t)(a & 511)) ^ b;"),
    ("spin", "return (a << 13 | a >> 51) + (b ^ $k);"),
]

BODIES = {
    "arrays": [
        "x += (uint64_t)(values[(j + $n) & 1023] * 3 - values[j & 1023]);",
        "int32_t one = values[j & 1023];\nx += (uint64_t)(one > $n ? one : $n - one);",
        "values[(j + $n) & 1023] += (int32_t)(j & 7) - 3;\nx += j;",
    ],
    "hashing": [
        "uint64_t hash = (keys[j & 255] ^ $n) * $k;\nhash ^= hash >> 29;\nhash *= 0x9e3779b97f4a7c15u;\n"
        "x += hash ^ hash >> 32;",
        "uint64_t hash = keys[(j * 5 + $n) & 255];\nhash = (hash << 21 | hash >> 43) * $k;\nx ^= hash;",
        "uint64_t hash = j * $k;\nhash ^= hash >> 15;\nx += table[hash & 255] ^ hash;",
    ],
    "text": [
        "unsigned char c = text[(j + $n) & 1023];\nx += (unsigned char)((c | 32) - 'a') < 26;",
        "unsigned char c = text[(j + $n * 8) & 1023];\nx += (c == ' ') + ((uint64_t)c << 7);",
        "text[(j + $n) & 1023] ^= (unsigned char)(j & 1);\nx += text[(j + 512) & 1023];",
    ],
    "structs": [
        "struct cell *cell = &cells[(j + $n) & 255];\ncell->seen += (uint32_t)j;\n"
        "x += (uint64_t)(cell->width - cell->height);",
        "struct cell *cell = &cells[(j * 3 + $n) & 255];\ncell->height = cell->width + (int32_t)(j & 15);\nx += cell->seen;",
        "struct cell *cell = &cells[j & 255];\ncell->weight = cell->weight * 0.5f + 1.25f;\nx += cell->seen + $n;",
    ],
    "calls": ["x += $blend(keys[j & 255], j);", "x ^= $scale(j + $n, j);", "x += $pick(j, $n);",
              "x += $place(j * $k, j + $n);", "x ^= $spin(keys[(j + $n) & 255], j);"],
    "numbers": [
        "double level = levels[(j + $n) & 255];\nlevels[(j + $n) & 255] = level * 0.75 + 2.5;\nx += j;",
        "x += (uint64_t)(int64_t)(levels[j & 255] * 1.75 + (double)(int32_t)(j & 31));",
    ],
    "tables": [
        "x += table[(keys[j & 255] >> ($n & 31)) & 255] >> 3;",
        "x += (uint64_t)grid[j & 15][(j >> 4) & 15] + table[(j + $n) & 255];",
        "grid[(j >> 4) & 15][j & 15] += (int32_t)(j & 3);\nx += keys[(j ^ $n) & 255];",
    ],
    "bits": [
        "uint64_t bits = keys[(j + $n) & 255];\nbits &= bits - 1;\nbits ^= bits >> 11;\nx += bits & $k;",
        "uint64_t bits = keys[j & 255] ^ j;\nbits = (bits & 0x5555555555555555u) + ((bits >> 1) & 0x5555555555555555u);\n"
        "x += bits ^ bits >> 31;",
    ],
}

LIGHT = [
    "x += table[(i * 7 + $n) & 255];",
    "x ^= keys[(i + $n) & 255] >> 9;",
    "x += text[(i + $n) & 1023] == 'e';",
    "cells[(i + $n) & 255].height = (int32_t)i;",
    "x += (uint64_t)(values[(i + $n) & 1023] >> 2);",
    "levels[i & 255] = (double)(int32_t)(i & 63);",
    "x = (x << 5 | x >> 59) + i;",
    "grid[i & 15][$n & 15] += 1;",
]

FIRST = "update count fold merge visit collect filter render measure encode resolve sample route balance trace".split()
SECOND = "rows words items nodes cells edges tokens frames prices orders tiles marks pages parts shapes users".split()
