# SPDX-License-Identifier: MIT
"""The kinds of costs that twins.py plants: for each its variants, with the cost and without it.

A cost's code works on the uint64_t v, with uint32_t i counting upwards, in function $n; $k is an odd
constant. Where `loop` is set it is a loop of its own and adds to x; turn is then where it may begin.
Code, head and start are one text for both programs, or two: with the cost, and what an engineer
would write instead. Words that count as right are those of the catalogue in docs/reference/causes.md.
"""
from typing import Callable, NamedTuple, Optional, Union

Text = Union[str, tuple]


class Cost(NamedTuple):
    code: Text
    head: Text = ""  # declarations
    start: Text = ""  # statements of main
    includes: tuple = ()
    loop: bool = False
    dependent: Optional[bool] = None  # whether v is what came before; None: chosen by the seed
    trips: int = 32  # executions in each call
    step: int = 64  # what turn advances by
    attributes: str = ""
    is_cpp: bool = False


class Kind(NamedTuple):
    make: Callable
    words: str
    right: str
    needs: str
    lacks: Optional[Callable]  # why this machine cannot run it; None where it can


KINDS = {}


def kind(right, words, needs="samples", lacks=None):
    def enter(make):
        KINDS[make.__name__.replace("_", "-").strip("-")] = Kind(make, words, right, needs, lacks)
        return make
    return enter


# A million random words, read in order: no predictor learns them.
STREAM = """
enum { STREAM = (1 << 20) - 1 };
uint32_t stream[STREAM + 1];
"""
STREAM_AT = "stream[(i + $n * 16411u) & STREAM]"
FILL_STREAM = "for (uint32_t i = 0; i <= STREAM; i++)\n\tstream[i] = (uint32_t)(random_word() >> 32);\n"
# The same words in the order of their lowest bits: they change a few times in all.
SORT_STREAM = "for (uint32_t i = 0; i <= STREAM; i++)\n\tstream[i] = i >> 17;\n"


@kind("-", "no cost")
def none(_):
    return Cost("v += i;")


@kind("division", "division")
def division(r):
    return r.choice((
        Cost(("v %= buckets[$n];", "v &= buckets[$n] - 1;"), "\nuint64_t buckets[64];\n",
             ("for (int i = 0; i < 64; i++)\n\tbuckets[i] = 1000 + (random_word() >> 52);",
              "for (int i = 0; i < 64; i++)\n\tbuckets[i] = 1024u << (i & 3);")),
        Cost(("v = (uint64_t)(int64_t)((int32_t)(v >> 33) / scales[$n]);",
              "v = (uint64_t)((int64_t)(int32_t)(v >> 33) * inverse[$n] >> 32);"),
             "\nint32_t scales[64];\nint64_t inverse[64];\n",
             "for (int i = 0; i < 64; i++) {\n\tscales[i] = 3 + (int32_t)(random_word() >> 50);\n"
             "\tinverse[i] = ((int64_t)1 << 32) / scales[i];\n}"),
        Cost(("v = (uint64_t)(int64_t)((double)(int64_t)(v >> 20) / weights[$n]);",
              "v = (uint64_t)(int64_t)((double)(int64_t)(v >> 20) * inverse[$n]);"),
             "\ndouble weights[64], inverse[64];\n",
             "for (int i = 0; i < 64; i++) {\n\tweights[i] = 1.5 + (double)(random_word() >> 54);\n"
             "\tinverse[i] = 1 / weights[i];\n}")))


@kind("square-root", "square root")
def square_root(r):
    return r.choice((
        Cost(("double d = (double)(int64_t)(v >> 44);\nv = (uint64_t)(int64_t)sqrt(d * d + 3 * d + 1);",
              "double d = (double)(int64_t)(v >> 44);\nv = (uint64_t)(int64_t)(d * d + 3 * d + 1);")),
        Cost(("float d = (float)(int64_t)(v >> 44);\nv = (uint64_t)(int64_t)sqrtf(d * 1.5f + 1) + (v >> 60);",
              "float d = (float)(int64_t)(v >> 44);\nv = (uint64_t)(int64_t)(d * 1.5f + 1) + (v >> 60);"))))


@kind("part-store", "loads of what stores of another width wrote")
def part_store(r):
    return r.choice((
        Cost(("""unsigned char *frame = frames[$n];
uint64_t word;
frame[5] = (unsigned char)(v >> 9);
frame[6] = (unsigned char)(v >> 17);
__asm__ volatile("" ::: "memory");
memcpy(&word, frame + 3, sizeof word);
v ^= word;""", """unsigned char *frame = frames[$n];
uint64_t word;
memcpy(&word, frame + 3, sizeof word);
word = (word & 0xffffffff0000ffffu) | (v >> 9 & 0xff) << 16 | (v >> 17 & 0xff) << 24;
memcpy(frame + 3, &word, sizeof word);
v ^= word;"""), "\nunsigned char frames[64][16];\n"),
        Cost(("""struct point *point = &points[$n];
uint64_t both;
point->x = (int32_t)v;
point->y = (int32_t)(v >> 20);
__asm__ volatile("" ::: "memory");
memcpy(&both, point, sizeof both);
v += both;""", """struct point *point = &points[$n];
uint64_t both = (uint32_t)v | v >> 20 << 32;
memcpy(point, &both, sizeof both);
v += both;"""), "\nstruct point {\n\tint32_t x, y;\n} points[64];\n")))


@kind("pointer-chase", "steps along a list")
def chase(r):
    count = 1 << r.choice((14, 15, 16))
    head = f"""
enum {{ N_NODES = {count} }};
struct node {{
	struct node *next;
	uint64_t value[7];
}} nodes[N_NODES];
struct node *at = nodes;
"""
    # Sattolo's shuffle: one cycle through all nodes.
    start = """for (uint32_t i = 0; i < N_NODES; i++)
	nodes[i].next = &nodes[i], nodes[i].value[0] = random_word();
for (uint32_t i = N_NODES - 1; i > 0; i--) {
	uint32_t other = (uint32_t)(random_word() % i);
	struct node *next = nodes[i].next;
	nodes[i].next = nodes[other].next;
	nodes[other].next = next;
}"""
    return Cost(("at = at->next;\nv ^= at->value[0];",
                 "at = at + 1 == nodes + N_NODES ? nodes : at + 1;\nv ^= at->value[0];"), head, start, dependent=False)


@kind("pointer-chase", "lists that are searched for a key")
def buckets(r):
    length = r.choice((4, 8))
    head = f"""
enum {{ LISTS = 1 << 12, LENGTH = {length}, ENTRIES = LISTS * LENGTH }};
struct entry {{
	struct entry *next;
	uint64_t value[6], key;
}} entries[ENTRIES], *lists[LISTS];
uint64_t rows[LISTS][LENGTH];
uint32_t places[ENTRIES];
"""
    # The key is that of the last entry, so that branches are foretold; entries lie anywhere.
    start = """for (uint32_t i = 0; i < ENTRIES; i++)
	places[i] = i;
for (uint32_t i = ENTRIES - 1; i > 0; i--) {
	uint32_t other = (uint32_t)(random_word() % i), place = places[i];
	places[i] = places[other];
	places[other] = place;
}
for (uint32_t i = 0; i < ENTRIES; i++) {
	struct entry *one = &entries[places[i]];
	one->key = rows[i / LENGTH][LENGTH - 1 - i % LENGTH] = i % LENGTH;
	one->next = lists[i / LENGTH];
	lists[i / LENGTH] = one;
}"""
    where = "uint32_t list = (uint32_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 52);\n"
    return Cost((where + "struct entry *at = lists[list];\nwhile (at->key != 0)\n\tat = at->next;\nv += at->value[0] + 1;",
                 where + "uint32_t at = 0;\nwhile (rows[list][at] != 0)\n\tat++;\nv += at + 1;"), head, start, dependent=True)


def lacks_avx2():
    with open("/proc/cpuinfo", encoding="ascii") as flags:
        return None if " avx2" in flags.read() else "the processor has no AVX2"


@kind("gather", "elements gathered one by one", lacks=lacks_avx2)
def gather(r):
    head = "\nint32_t order[1024], stock[4096], in_order[1024];\n"
    start = """for (int i = 0; i < 1024; i++) {
	order[i] = (int32_t)(random_word() >> 52);
	stock[order[i]] = (int32_t)random_word();
	in_order[i] = stock[order[i]];
}"""
    where = "uint32_t from = (i * 8 + $n * 8) & 1016;\n"
    join = r.choice(("got = _mm256_add_epi32(got, _mm256_srli_epi32(got, 7));\nv += (uint64_t)_mm256_extract_epi64(got, 1);",
                     "got = _mm256_xor_si256(got, _mm256_set1_epi64x((long long)v));\nv ^= (uint64_t)_mm256_extract_epi64(got, 2);"))
    return Cost((where + "__m256i at = _mm256_loadu_si256((const __m256i *)&order[from]);\n"
                 "__m256i got = _mm256_i32gather_epi32(stock, at, 4);\n" + join,
                 where + "__m256i got = _mm256_loadu_si256((const __m256i *)&in_order[from]);\n" + join),
                head, start, ("immintrin.h",), attributes='__attribute__((target("avx2")))')


@kind("branch-mispredict", "branches that history does not foretell", "windows or counts")
def branch(r):
    where = f"uint32_t word = {STREAM_AT};\n"
    ways = where + """if (word & 1) {
	__asm__ volatile("");
	v = v * 3 + $n;
} else {
	__asm__ volatile("");
	v ^= v >> 7;
}"""
    deep = where + """if (word & 1) {
	__asm__ volatile("");
	cells[word >> 24].seen += $n;
}
v += word >> 3;"""
    return r.choice((
        Cost((ways, where + "uint64_t mask = 0 - (uint64_t)(word & 1);\nv = ((v * 3 + $n) & mask) | ((v ^ v >> 7) & ~mask);"),
             STREAM, FILL_STREAM),
        Cost((deep, where + "cells[word >> 24].seen += (word & 1) * $n;\nv += word >> 3;"), STREAM, FILL_STREAM),
        Cost(ways, STREAM, (FILL_STREAM, SORT_STREAM))))


OPERATIONS = ("(v ^ v >> 21) * 0xaf251af3b0f025b5u", "v + (v << 9) + 77", "(v << 11 | v >> 53) ^ 0x5bd1e995u",
              "v * 9 - (v >> 4)", "~v + (v << 21)", "v ^ keys[v & 255]", "v - table[v >> 56]", "(v >> 3) * 0x9e3779b9u")


@kind("indirect-mispredict", "indirect calls and jumps that history does not foretell")
def indirect(r):
    start = (FILL_STREAM, SORT_STREAM)
    functions = STREAM + "".join(f"\nNOINLINE uint64_t apply_{i}(uint64_t v)\n{{\n\treturn {text};\n}}\n"
                                 for i, text in enumerate(OPERATIONS))
    functions += "\nuint64_t (*appliers[8])(uint64_t) = {" + ", ".join(f"apply_{i}" for i in range(8)) + "};\n"
    cases = "".join(f"case {i}:\n\tv = {text};\n\tbreak;\n" for i, text in enumerate(OPERATIONS))
    classes = STREAM + "\nstruct Shape {\n\tvirtual uint64_t area(uint64_t v) const = 0;\n};\n" + "".join(
        f"struct Shape{i} : Shape {{\n\tNOINLINE uint64_t area(uint64_t v) const override\n\t{{\n\t\treturn {text};\n\t}}\n}};\n"
        for i, text in enumerate(OPERATIONS)) + "Shape *shapes[8] = {" + ", ".join(f"new Shape{i}" for i in range(8)) + "};\n"
    return r.choice((
        Cost(f"v = appliers[{STREAM_AT} & 7](v);", functions, start),
        Cost(f"switch ({STREAM_AT} & 7) {{\n{cases}}}", STREAM, start),
        Cost(f"v = shapes[{STREAM_AT} & 7]->area(v);", classes, start, is_cpp=True)))


@kind("atomic", "atomic operations that nobody contends")
def atomic(r):
    head = "\nuint64_t counters[64];\n"
    return r.choice((
        Cost(("v += __atomic_fetch_add(&counters[$n], 3, __ATOMIC_SEQ_CST);", "v += counters[$n];\ncounters[$n] += 3;"), head),
        Cost(("v ^= __atomic_exchange_n(&counters[$n], v, __ATOMIC_SEQ_CST);",
              "uint64_t old = counters[$n];\ncounters[$n] = v;\nv ^= old;"), head),
        Cost(("uint64_t old = counters[$n];\n"
              "while (!__atomic_compare_exchange_n(&counters[$n], &old, old + (v & 3), 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))\n\t;\nv += old;",
              "uint64_t old = counters[$n];\ncounters[$n] = old + (v & 3);\nv += old;"), head)))


@kind("short-string slow-string", "string instructions on few bytes")
def rep(r):
    head = "\nunsigned char copies[64][32];\n"
    return r.choice((
        Cost(("void *to = copies[$n];\nconst void *from = &text[v & 511];\nsize_t length = 3 + (v >> 61);\n"
              '__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");\nv += copies[$n][2];',
              "memcpy(copies[$n], &text[v & 511], 16);\nv += copies[$n][2];"), head),
        Cost(("void *to = copies[$n];\nsize_t length = 5 + (v >> 60);\n"
              '__asm__ volatile("rep stosb" : "+D"(to), "+c"(length) : "a"((int)(v & 15)) : "memory");\nv += copies[$n][4];',
              "memset(copies[$n], (int)(v & 15), 32);\nv += copies[$n][4];"), head)))


@kind("recurrence-fp", "floating-point operations, each needing the one before", "a scale or counts")
def chain(r):
    operation, start = r.choice((("s# += marks[i# & 511];", "0"), ("s# += marks[i# & 511] * loads[i# & 511];", "0"),
                                 ("s# = s# * marks[i# & 511] + 0.5;", "1")))
    one = "double s = START;\nfor (uint32_t i = turn; i < turn + 128; i++)\n\tOP\nx += (uint64_t)(int64_t)s;"
    four = ("double " + ", ".join(f"s{k} = {start}" for k in range(4)) + ";\nfor (uint32_t i = turn; i < turn + 128; i += 4) {\n"
            + "".join("\t" + operation.replace("s#", f"s{k}").replace("i#", f"(i + {k})") + "\n" for k in range(4))
            + "}\nx += (uint64_t)(int64_t)((s0 + s1) + (s2 + s3));")
    return Cost((one.replace("START", start).replace("OP", operation.replace("#", "")), four),
                "\ndouble marks[512], loads[512];\n",
                "for (int i = 0; i < 512; i++)\n\tmarks[i] = (double)(i & 31) / 64 + 0.25, loads[i] = 1.5 + (i & 3);", loop=True)


@kind("denormal", "numbers near zero", "windows")
def denormal(r):
    # On Zen 5 additions take a cycle more, divisions and roots twice as long, and multiplications as long as ever.
    code = r.choice((
        "float left = 0;\nfor (uint32_t i = 0; i < 128; i++) {\n\tleft = left * 0.5f + faded[i + $n];\n\tfading[i + $n] = left;\n}\n"
        "x += fading[turn & 127] > left;",
        "float by = 3.25f + (float)(int)(turn & 1);\nfor (uint32_t i = 0; i < 64; i++)\n\tfading[i + $n] = faded[i + $n] / by;\n"
        "x += fading[turn & 127] > by;"))
    return Cost(code, "\nfloat fading[256], faded[256];\n",
                ("for (int i = 0; i < 256; i++)\n\tfaded[i] = 1e-39f + (float)i * 1e-42f;",
                 "for (int i = 0; i < 256; i++)\n\tfaded[i] = 1e-39f + (float)i * 1e-42f;\n_mm_setcsr(_mm_getcsr() | 0x8040);"),
                includes=("xmmintrin.h",), loop=True)


@kind("system-call service-io", "system calls")
def system_call(r):
    head = ("#include <fcntl.h>\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
            "int sink;\nuint64_t parent;\nunsigned char buffered[4096];\nsize_t n_buffered;\n")
    start = 'sink = open("/dev/null", O_WRONLY);\nparent = (uint64_t)getppid();'
    return r.choice((
        Cost(("v += (uint64_t)syscall(SYS_getppid);", "v += parent;"), head, start, trips=8),
        Cost(("v += (uint64_t)write(sink, &v, sizeof v);",
              "memcpy(buffered + n_buffered, &v, sizeof v);\nn_buffered += sizeof v;\n"
              "if (n_buffered == sizeof buffered)\n\tn_buffered = 0, v += (uint64_t)write(sink, buffered, sizeof buffered);"),
             head, start, trips=8),
        Cost(("v += (uint64_t)lseek(sink, 0, SEEK_CUR);", "v += sink > 0;"), head, start, trips=8)))


@kind("service-string repeated-work", "strlen in a loop's condition")
def strlen(_):
    loop = "for (size_t c = 0; c < LENGTH; c++) {\n\tline[c] = (char)(line[c] ^ 1);\n\tx += (unsigned char)line[c];\n}"
    return Cost(("char *line = lines[$n];\n" + loop.replace("LENGTH", "strlen(line)"),
                 "char *line = lines[$n];\nsize_t length = strlen(line);\n" + loop.replace("LENGTH", "length")),
                "\nchar lines[64][128];\n",
                "for (int i = 0; i < 64; i++)\n\tfor (int c = 0; c < 40 + i; c++)\n\t\tlines[i][c] = (char)('b' + c % 23);",
                loop=True)


@kind("service-allocator", "memory allocated and freed for each item")
def malloc(r):
    use = "part[0] = (unsigned char)v;\n" + '__asm__ volatile("" : : "r"(part) : "memory");\nv += part[0];'
    return r.choice((
        Cost(("unsigned char *part = (unsigned char *)malloc(24 + (v & 255));\n" + use + "\nfree(part);",
              "unsigned char *part = scratch;\n" + use), "\nunsigned char scratch[512];\n"),
        Cost(("std::vector<uint64_t> part(4, v);\npart.push_back(i);\nv += part[v & 3] + part.back();",
              "kept.assign(4, v);\nkept.push_back(i);\nv += kept[v & 3] + kept.back();"),
             "\nstd::vector<uint64_t> kept(16);\n", includes=("vector",), is_cpp=True),
        Cost(("struct item *item = new item{v, i};\n" '__asm__ volatile("" : "+r"(item) : : "memory");\n'
              "v += item->a + item->b;\ndelete item;",
              "struct item kept = {v, i}, *item = &kept;\n" '__asm__ volatile("" : "+r"(item) : : "memory");\nv += item->a + item->b;'),
             "\nstruct item {\n\tuint64_t a, b;\n};\n", is_cpp=True)))


@kind("service-math", "a function of mathematics for what arithmetic does")
def pow_(r):
    number = "double d = (double)(int64_t)(v >> 52) + 0.5;\n"
    return r.choice((
        Cost((number + "v += (uint64_t)(int64_t)pow(d, power);", number + "v += (uint64_t)(int64_t)(d * d);"),
             "\ndouble power = 2;\n"),
        Cost((number + "v += (uint64_t)(int64_t)fmod(d, period);", "v += v >> 52 & 15;"), "\ndouble period = 16;\n"),
        Cost(("v += (uint64_t)(int64_t)log2((double)(int64_t)(v >> 8 | 1));", "v += 63u - (uint64_t)__builtin_clzll(v >> 8 | 1);"))))


THREAD = "pthread_t thread;\npthread_create(&thread, NULL, start_nothing, NULL);\npthread_join(thread, NULL);\n"
NOTHING = "\nstatic void *start_nothing(void *data)\n{\n\treturn data;\n}\n"


@kind("service-stdio service-lock lock atomic", "stdio that locks for each character")
def stdio(r):
    head = NOTHING + "FILE *sink, *source;\nchar lines[1 << 16];\n"
    start = THREAD + ('sink = fopen("/dev/null", "w");\nsetvbuf(sink, NULL, _IOFBF, 1 << 16);\n'
                      "memset(lines, 'a', sizeof lines);\n" 'source = fmemopen(lines, sizeof lines, "r");\n'
                      "setvbuf(source, NULL, _IOFBF, 1 << 16);")
    read = "int c = GET(source);\nif (c == EOF)\n\trewind(source);\nv += (unsigned)c;"
    return r.choice((
        Cost(("fputc((int)(v & 127), sink);", "putc_unlocked((int)(v & 127), sink);"), head, start, ("pthread.h",)),
        Cost((read.replace("GET", "getc"), read.replace("GET", "getc_unlocked")), head, start, ("pthread.h",))))


@kind("service-lock lock atomic", "a mutex taken for each item")
def lock(r):
    head = NOTHING + "pthread_mutex_t mutexes[64];\nuint64_t totals[64];\n"
    work = "totals[$n] += v;\nv ^= totals[$n] >> 3;"
    start = THREAD + "for (int i = 0; i < 64; i++)\n\tpthread_mutex_init(&mutexes[i], NULL);"
    which = r.choice(("$n", "$n & 7"))
    return Cost((f"pthread_mutex_lock(&mutexes[{which}]);\n{work}\npthread_mutex_unlock(&mutexes[{which}]);", work), head, start, ("pthread.h",))


@kind("service-exception", "exceptions thrown for the ordinary case")
def exception(_):
    head = ("\nNOINLINE uint64_t parse(uint64_t v)\n{\n\tif ((v & 7) == 3)\n\t\tthrow (int)v;\n\treturn v >> 3;\n}\n",
            "\nNOINLINE bool parse(uint64_t v, uint64_t *out)\n{\n\tif ((v & 7) == 3)\n\t\treturn false;\n\t*out = v >> 3;\n\treturn true;\n}\n")
    return Cost(("try {\n\tv = parse(v);\n} catch (int error) {\n\tv += (uint64_t)error;\n}", "if (!parse(v, &v))\n\tv += (uint64_t)(int)v;"),
                head, is_cpp=True, dependent=False, trips=16)


@kind("service-cast", "dynamic_cast for each object")
def dynamic_cast(_):
    head = """
struct Thing {
	int type = 0;
	virtual ~Thing() = default;
};
struct Part : Thing {
	uint64_t weight = 3;
};
struct Wheel : Part {
};
struct Tree : Thing {
};
Thing *things[64];
"""
    start = """for (int i = 0; i < 64; i++) {
	things[i] = i % 3 ? (Thing *)new Wheel : (Thing *)new Tree;
	things[i]->type = i % 3 != 0;
}"""
    return Cost(("Part *part = dynamic_cast<Part *>(things[(i + $n) & 63]);\nv += part ? part->weight : i;",
                 "Thing *thing = things[(i + $n) & 63];\nv += thing->type ? static_cast<Part *>(thing)->weight : i;"),
                head, start, is_cpp=True)


@kind("pointer-chase branch-mispredict service-container", "look-ups in std::map")
def map_(r):
    count = r.choice((500, 2000))
    return Cost((f"v += stock.find((int)(v % {count}u))->second;", f"v += stock[v % {count}u];"),
                ("\nstd::map<int, uint64_t> stock;\n", f"\nstd::vector<uint64_t> stock({count});\n"),
                f"for (int i = 0; i < {count}; i++)\n\tstock[(i * 17) % {count}] = random_word() >> 40;", ("map", "vector"), is_cpp=True, trips=16)


@kind("service-hash pointer-chase division", "look-ups in std::unordered_map")
def unordered_map(r):
    count = r.choice((512, 1 << 14))
    return Cost((f"v += stock.find(v & {count - 1})->second;", f"v += stock[v & {count - 1}];"),
                ("\nstd::unordered_map<uint64_t, uint64_t> stock;\n", f"\nstd::vector<uint64_t> stock({count});\n"),
                f"for (uint64_t i = 0; i < {count}; i++)\n\tstock[(i * 17) & {count - 1}] = random_word() >> 40;",
                ("unordered_map", "vector"), is_cpp=True, trips=16)


@kind("partly-used-lines", "records of which one member is read", "registers or windows")
def partly_used_lines(r):
    rest = r.choice((60, 124))
    return Cost(("for (uint32_t i = 0; i < 128; i++)\n\tx += records[(turn + i) & RECORDS].price;",
                 "for (uint32_t i = 0; i < 128; i++)\n\tx += prices[(turn + i) & RECORDS];"),
                ("\nenum { RECORDS = (1 << 17) - 1 };\nstruct record {\n\tuint32_t price;\n\tchar name[%d];\n} *records;\n" % rest,
                 "\nenum { RECORDS = (1 << 17) - 1 };\nuint32_t *prices;\n"),
                ("records = (struct record *)malloc((RECORDS + 1) * sizeof *records);\nfor (uint32_t i = 0; i <= RECORDS; i++)\n\trecords[i].price = i;",
                 "prices = (uint32_t *)malloc((RECORDS + 1) * sizeof *prices);\nfor (uint32_t i = 0; i <= RECORDS; i++)\n\tprices[i] = i;"),
                loop=True, step=128)


@kind("tlb-reach", "more pages in use than translations are kept", "registers or windows")
def tlb_reach(r):
    head = "#include <sys/mman.h>\nenum { SPOTS = 1 << 14 };\nuint32_t spots[SPOTS];\nunsigned char *area;\n"
    fill = """for (uint32_t i = 0; i < SPOTS; i++)
	spots[i] = WHERE;
for (uint32_t i = SPOTS - 1; i > 0; i--) {
	uint32_t other = (uint32_t)(random_word() % i), spot = spots[i];
	spots[i] = spots[other];
	spots[other] = spot;
}
area = (unsigned char *)aligned_alloc(1 << 21, (size_t)SPOTS * 4096);
ADVICEfor (uint32_t i = 0; i < SPOTS; i++)
	area[spots[i]] = (unsigned char)i;"""
    code = r.choice(("for (uint32_t i = 0; i < 64; i++)\n\tx += area[spots[(turn + i) & (SPOTS - 1)]];",
                     "for (uint32_t i = 0; i < 64; i++)\n\tx += area[spots[(turn * 7 + i * 129 + (x & 7)) & (SPOTS - 1)]];"))
    sparse = fill.replace("WHERE", "i * 4096 + (i * 448 & 4032)")
    without = r.choice((fill.replace("WHERE", "i * 64").replace("ADVICE", ""),
                        sparse.replace("ADVICE", "madvise(area, (size_t)SPOTS * 4096, MADV_HUGEPAGE);\n")))
    return Cost(code, head, (sparse.replace("ADVICE", ""), without), loop=True)


@kind("kept-in-memory recurrence-memory", "a value stored and loaded in each iteration")
def kept_in_memory(r):
    value, item = r.choice((("uint64_t", "keys[i & 255] ^ $n"), ("int32_t", "values[i & 1023]"), ("double", "levels[i & 255]")))
    loop = "for (uint32_t i = turn; i < turn + 96; i++)\n\tSUM += ITEM;".replace("ITEM", item)
    total = f"{value} *total = totals[$n];\n"
    return Cost((total + loop.replace("SUM", "*total") + "\nx += (uint64_t)*total;",
                 total + f"{value} sum = *total;\n" + loop.replace("SUM", "sum") + "\n*total = sum;\nx += (uint64_t)*total;"),
                f"\n{value} *totals[64];\n", f"for (int i = 0; i < 64; i++)\n\ttotals[i] = ({value} *)calloc(8, 8);", loop=True)


@kind("throughput recurrence-alu", "bits handled one at a time")
def bits(r):
    one, whole = r.choice((
        ("for (int k = 0; k < 32; k++)\n\t\tx += word >> k & 1;",
         "word -= word >> 1 & 0x55555555;\n\tword = (word & 0x33333333) + (word >> 2 & 0x33333333);\n"
         "\tx += (word + (word >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24;"),
        ("for (int k = 0; k < 32; k++)\n\t\tword = word >> 1 ^ (0xedb88320u & (0 - (word & 1)));\n\tx += word;",
         "for (int k = 0; k < 4; k++)\n\t\tword = word >> 8 ^ by_byte[word & 255];\n\tx += word;")))
    loop = "for (uint32_t i = turn; i < turn + 8; i++) {\n\tuint32_t word = table[i & 255] ^ $n;\n\tWORK\n}"
    return Cost((loop.replace("WORK", one), loop.replace("WORK", whole)), "\nuint32_t by_byte[256];\n",
                "for (uint32_t i = 0; i < 256; i++) {\n\tby_byte[i] = i;\n\tfor (int k = 0; k < 8; k++)\n"
                "\t\tby_byte[i] = by_byte[i] >> 1 ^ (0xedb88320u & (0 - (by_byte[i] & 1)));\n}", loop=True)


@kind("pointer-chase early-address working-set", "counts of references of scattered objects", "registers")
def references(r):
    size = r.choice((96, 160))
    head = ("\nenum { SHARED = (1 << 15) - 1 };\nstruct shared {\n\tint uses, kind;\n\tchar name[%d];\n} *shared[SHARED + 1];\n"
            "\nNOINLINE void keep(struct shared *one)\n{\n\tone->uses++;\n}\n" % (size - 8))
    start = ("for (uint32_t i = 0; i <= SHARED; i++)\n\tshared[i] = (struct shared *)calloc(1, sizeof *shared[i]);\n"
             "for (uint32_t i = SHARED; i > 0; i--) {\n\tuint32_t other = (uint32_t)(random_word() % i);\n"
             "\tstruct shared *one = shared[i];\n\tshared[i] = shared[other];\n\tshared[other] = one;\n}")
    loop = "for (uint32_t i = 0; i < 16; i++) {\n\tstruct shared *one = shared[(turn + i) & SHARED];\nCOUNT\tx += (uintptr_t)one >> 4;\n}"
    return Cost((loop.replace("COUNT", "\tkeep(one);\n"), loop.replace("COUNT", "")), head, start, loop=True, step=16)


@kind("split-access", "accesses across the end of a line", "windows")
def split_access(r):
    size, at = r.choice(((8, "i * 64"), (16, "i * 64"), (8, "(i & 7) * 4096")))
    use = "for (uint32_t i = 0; i < 64; i++) {\n\tunsigned char *spot = spots + AT;\n\tuint64_t word;\n" \
        "\tmemcpy(spot, &x, sizeof x);\n\tmemcpy(&word, spot, sizeof word);\n\tx += word + i;\n}" if size == 8 else \
        "for (uint32_t i = 0; i < 64; i++) {\n\tunsigned char *spot = spots + AT;\n" \
        "\t_mm_storeu_si128((__m128i *)spot, _mm_set1_epi64x((long long)(x + i)));\n}\nx += spots[turn & 1023];"
    return Cost((use.replace("AT", at + " + 4096 - 4"), use.replace("AT", at + " + 4096")), "\nunsigned char *spots;\n",
                "spots = (unsigned char *)aligned_alloc(4096, 1 << 16);\nmemset(spots, 1, 1 << 16);", ("emmintrin.h",), loop=True)


@kind("conflict-miss", "addresses a power of two apart", "windows")
def conflict_miss(r):
    rows = r.choice((32, 48))
    return Cost(f"for (uint32_t i = 0; i < {rows}; i++)\n\tx += plane[i][(turn >> 6 & 7) + i % 3];" if r.random() < 0.5 else
                f"for (uint32_t i = 0; i < {rows}; i++) {{\n\tplane[i][turn >> 6 & 7] += i;\n\tx ^= plane[i][turn >> 6 & 7];\n}}",
                (f"\nuint64_t plane[{rows}][512] __attribute__((aligned(4096)));\n",
                 f"\nuint64_t plane[{rows}][520] __attribute__((aligned(4096)));\n"), loop=True)


@kind("page-fault system-call service-allocator", "memory given back and faulted again")
def page_fault(r):
    size = r.choice((1 << 16, 1 << 18))
    use = f"for (uint32_t c = 0; c < {size}; c += 4096)\n\tpart[c] = (unsigned char)(x + c);\nx += part[{size // 2}];\n"
    return r.choice((
        Cost((f"unsigned char *part = (unsigned char *)malloc({size});\n" + use + "free(part);", "unsigned char *part = kept;\n" + use),
             f"#include <malloc.h>\nunsigned char kept[{size}];\n", "mallopt(M_MMAP_THRESHOLD, 32768);", loop=True),
        Cost((f"unsigned char *part = (unsigned char *)mmap(NULL, {size}, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
              + use + f"munmap(part, {size});", "unsigned char *part = kept;\n" + use),
             f"#include <sys/mman.h>\nunsigned char kept[{size}];\n", loop=True)))


@kind("false-dependence", "a conversion that keeps the old value's upper half", "a scale or counts")
def false_dependence(r):
    scale = r.choice(("1.5", "0.75"))
    convert = ("__m128d d = last;\n\t" '__asm__("CLEARcvtsi2sdl %1, %0" : "+x"(d) : "r"(values[i & 1023] + $n));\n')
    loop = ("__m128d last = _mm_set1_pd((double)$n);\nfor (uint32_t i = turn; i < turn + 96; i++) {\n\t" + convert
            + f"\td = _mm_add_sd(_mm_mul_sd(d, _mm_set_sd({scale})), _mm_load_sd(&levels[i & 255]));\n"
            + "\t_mm_store_sd(&scaled[i & 255], d);\n\tlast = d;\n}\nx += (uint64_t)(int64_t)scaled[turn & 255];")
    return Cost((loop.replace("CLEAR", ""), loop.replace("CLEAR", "xorps %0, %0\\n\\t")), "\ndouble scaled[256];\n",
                includes=("emmintrin.h",), loop=True)


@kind("recurrence-cmov", "conditional moves, each needing the one before", "a scale or counts")
def recurrence_cmov(_):
    """A conditional move where a branch would be foretold."""
    loop = ("uint64_t best = $n;\nfor (uint32_t i = turn; i < turn + 96; i++) {\n\tuint64_t item = keys[i & 255] >> 8;\n"
            "\tuint64_t other = (best ^ best >> 9) * 5 + item;\nCHOOSE\n}\nx += best;")
    return Cost((loop.replace("CHOOSE", '\t__asm__("test $127, %1\\n\\tcmove %2, %0" : "+r"(best) : "r"((uint32_t)item | 1), "r"(other) : "cc");'),
                 loop.replace("CHOOSE", '\tif (__builtin_expect((((uint32_t)item | 1) & 127) == 0, 0)) {\n\t\t__asm__ volatile("");\n\t\tbest = other;\n\t}')), loop=True)


@kind("recurrence-memory kept-in-memory", "values stored and loaded again soon after", "a scale or counts")
def recurrence_memory(_):
    return Cost(("for (uint32_t i = turn; i < turn + 96; i++)\n\thistogram[0][levels_of[i & 255]]++;\nx += histogram[0][turn & 7];",
                 "for (uint32_t i = turn; i < turn + 96; i++)\n\thistogram[i & 7][levels_of[i & 255]]++;\nx += histogram[turn & 7][turn & 7];"),
                "\nuint32_t histogram[8][64];\nunsigned char levels_of[256];\n",
                "for (int i = 0; i < 256; i++)\n\tlevels_of[i] = (unsigned char)(i / 100);", loop=True)


@kind("early-address", "loads that miss at addresses known long before", "registers or windows")
def early_address(r):
    rounds = r.choice((40, 60))
    loop = ("for (uint32_t i = 0; i < 24; i++) {\nFETCH\tuint64_t item = bulk[where[(turn + i) & 4095] & BULK];\n"
            f"\tfor (int k = 0; k < {rounds}; k++)\n\t\titem = (item ^ item >> 13) * 0x9e3779b97f4a7c15u;\n\tx += item;\n}}")
    return Cost((loop.replace("FETCH", ""), loop.replace("FETCH", "\t__builtin_prefetch(&bulk[where[(turn + i + 3) & 4095] & BULK]);\n")),
                "\nenum { BULK = (1 << 23) - 1 };\nuint64_t *bulk;\nuint32_t where[4096];\n",
                "bulk = (uint64_t *)aligned_alloc(1 << 21, (BULK + 1) * sizeof *bulk);\nmadvise(bulk, (BULK + 1) * sizeof *bulk, MADV_HUGEPAGE);\n"
                "for (uint32_t i = 0; i <= BULK; i += 512)\n\tbulk[i] = i;\nfor (int i = 0; i < 4096; i++)\n\twhere[i] = (uint32_t)(random_word() >> 32);",
                ("sys/mman.h",), loop=True)


@kind("repeated-work call-overhead", "the same call with the same arguments in each iteration", "windows")
def repeated_work(r):
    body = r.choice(("uint64_t h = n;\n\tfor (int i = 0; i < 12; i++)\n\t\th = (h ^ text[i + n]) * 0x100000001b3u;\n\treturn h;",
                     "uint64_t bits = 0;\n\tfor (int i = 0; i < 16; i++)\n\t\tbits += table[(n + i * 3) & 255] & 0xff;\n\treturn bits;"))
    loop = "for (uint32_t i = turn; i < turn + 32; i++)\n\tx += keys[i & 255] ^ FACTOR;"
    return Cost((loop.replace("FACTOR", "factor_of($n)"), "uint64_t factor = factor_of($n);\n" + loop.replace("FACTOR", "factor")),
                f"\nNOINLINE uint64_t factor_of(uint32_t n)\n{{\n\t{body}\n}}\n", loop=True)


@kind("memory-bandwidth store-bound working-set", "more bytes moved than need be", "windows")
def memory_bandwidth(_):
    loop = ("const TYPE *part = lake + (size_t)(turn >> 7 & 16383) * 512;\nuint64_t sum = 0;\n"
            "for (uint32_t i = 0; i < 512; i++)\n\tsum += part[i];\nx += sum;")
    start = "lake = (TYPE *)malloc((size_t)16384 * 512 * sizeof *lake);\nmemset(lake, 1, (size_t)16384 * 512 * sizeof *lake);"
    return Cost((loop.replace("TYPE", "uint64_t"), loop.replace("TYPE", "uint8_t")), ("\nuint64_t *lake;\n", "\nuint8_t *lake;\n"),
                (start.replace("TYPE", "uint64_t"), start.replace("TYPE", "uint8_t")), loop=True, step=128)


@kind("working-set early-address tlb-reach", "a table larger than the caches hold", "registers or windows")
def working_set(r):
    bits = r.choice((20, 21))
    return Cost((f"v += pool[(v * 0x9e3779b97f4a7c15u) >> {64 - bits}];", f"v += pool[(v * 0x9e3779b97f4a7c15u) >> {64 - bits} & 4095];"),
                f"\nuint64_t *pool;\n", f"pool = (uint64_t *)malloc((1u << {bits}) * sizeof *pool);\n"
                f"for (uint32_t i = 0; i < 1u << {bits}; i++)\n\tpool[i] = i * 0x9e3779b1u;", dependent=True)


@kind("call-overhead", "a call of a small function for each item")
def call_overhead(r):
    expression = r.choice(("(a ^ b) + (c & d) - e", "a + (b << 2) + (c ^ d) + e"))
    inline = expression
    for name, value in zip("abcde", ("v", "i", "x", "(v >> 3)", "keys[i & 255]")):
        inline = inline.replace(name, value)
    return Cost(("v = combined(v, i, x, v >> 3, keys[i & 255]);", f"v = {inline};"),
                "\nNOINLINE uint64_t combined(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)\n{\n\treturn "
                + expression + ";\n}\n")


@kind("serialising", "fences that nothing needs")
def fence(r):
    fence_ = r.choice(("mfence", "lfence"))
    return Cost((f'cells[$n].seen = (uint32_t)v;\n__asm__ volatile("{fence_}" ::: "memory");\nv += i;',
                 'cells[$n].seen = (uint32_t)v;\n__asm__ volatile("" ::: "memory");\nv += i;'))


@kind("service-locale service-string", "strings compared by the locale's order")
def locale_(_):
    return Cost(("v += (uint64_t)(strcoll(words[v & 15], words[(v >> 4) & 15]) < 0);",
                 "v += (uint64_t)(strcmp(words[v & 15], words[(v >> 4) & 15]) < 0);"),
                "#include <locale.h>\nchar words[16][24];\n",
                'setlocale(LC_ALL, "C.UTF-8");\nfor (int i = 0; i < 16; i++)\n\tfor (int c = 0; c < 12; c++)\n'
                "\t\twords[i][c] = (char)('a' + (c < 6 ? c : (c * 7 + i * 5) % 26));", trips=16)


@kind("service-stdio service-string", "numbers formatted for each item")
def format_(_):
    return Cost(('char number[32];\nsnprintf(number, sizeof number, "%u", (unsigned)(v >> 40));\nv += (unsigned char)number[0];',
                 "char number[32];\nunsigned left = (unsigned)(v >> 40), at = 31;\ndo {\n\tnumber[at--] = (char)('0' + left % 10);\n"
                 "} while (left /= 10);\nv += (unsigned char)number[at + 1];"), trips=8)
