/* SPDX-License-Identifier: MIT */
/* Instructions with a known use, and random ones against the list that they are made of. */
#include "images/code/frame_use.h"

#include <string.h>

#define CODE UINT64_C(0x401000)

typedef struct {
	LodeFrameUse use;
	uint8_t n, bytes[15];
} Line;

#define LINE(use, ...)                                                                             \
	{                                                                                          \
		LODE_FRAME_USE_##use, sizeof((uint8_t[]){__VA_ARGS__}),                            \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static void check(const Line *lines, size_t n, const char *what)
{
	g_autoptr(GByteArray) code = g_byte_array_new();
	g_auto(LodeControlFlow) flow = {0};

	for (size_t i = 0; i < n; i++)
		g_byte_array_append(code, lines[i].bytes, lines[i].n);
	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, code->data, code->len, CODE, NULL);
	g_assert_cmpuint(flow.instructions->len, ==, n);
	g_autofree uint8_t *found = g_new(uint8_t, n);
	lode_frame_use_find(&flow, code->data, code->len, CODE, found);
	for (size_t i = 0; i < n; i++)
		if (found[i] != lines[i].use)
			g_error("%s: instruction %zu has use %u, not %u", what, i, found[i],
				lines[i].use);
}

static void test_gcc(void)
{
	static const Line lines[] = {
		LINE(ENTER, 0xf3, 0x0f, 0x1e, 0xfa),                      /* endbr64 */
		LINE(ENTER, 0x55),                                        /* push rbp */
		LINE(ENTER, 0x53),                                        /* push rbx */
		LINE(ENTER, 0x48, 0x83, 0xec, 0x28),                      /* sub rsp, 40 */
		LINE(ENTER, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0), /* mov rax, fs:40 */
		LINE(ENTER, 0x48, 0x89, 0x44, 0x24, 0x18),                /* mov [rsp+24], rax */
		LINE(SAVE, 0x48, 0x89, 0x3c, 0x24),                       /* mov [rsp], rdi */
		LINE(NONE, 0x31, 0xc0),                                   /* xor eax, eax */
		LINE(NONE, 0xff, 0xd6),                                   /* call rsi */
		LINE(NONE, 0x6a, 0x07),                                   /* push 7 */
		LINE(RELOAD, 0x48, 0x03, 0x44, 0x24, 0x08),               /* add rax, [rsp+8] */
		LINE(LEAVE, 0x48, 0x83, 0xc4, 0x08),                      /* add rsp, 8 */
		LINE(LEAVE, 0x48, 0x8b, 0x54, 0x24, 0x18),                /* mov rdx, [rsp+24] */
		LINE(LEAVE, 0x64, 0x48, 0x2b, 0x14, 0x25, 0x28, 0, 0, 0), /* sub rdx, fs:40 */
		LINE(NONE, 0x75, 0x07),                                   /* jne 1f */
		LINE(LEAVE, 0x48, 0x83, 0xc4, 0x28),                      /* add rsp, 40 */
		LINE(LEAVE, 0x5b),                                        /* pop rbx */
		LINE(LEAVE, 0x5d),                                        /* pop rbp */
		LINE(NONE, 0xc3),                                         /* ret */
		LINE(NONE, 0xff, 0xd6),                                   /* 1: call rsi */
	};

	check(lines, G_N_ELEMENTS(lines), "gcc");
}

static void test_go(void)
{
	static const Line lines[] = {
		LINE(ENTER, 0x49, 0x3b, 0x66, 0x10),        /* cmp rsp, [r14+16] */
		LINE(NONE, 0x76, 0x25),                     /* jbe 1f */
		LINE(ENTER, 0x48, 0x83, 0xec, 0x18),        /* sub rsp, 24 */
		LINE(ENTER, 0x48, 0x89, 0x6c, 0x24, 0x10),  /* mov [rsp+16], rbp */
		LINE(ENTER, 0x48, 0x8d, 0x6c, 0x24, 0x10),  /* lea rbp, [rsp+16] */
		LINE(SAVE, 0x48, 0x89, 0x44, 0x24, 0x20),   /* mov [rsp+32], rax: an argument */
		LINE(NONE, 0xff, 0xd1),                     /* call rcx */
		LINE(RELOAD, 0x48, 0x8b, 0x4c, 0x24, 0x20), /* mov rcx, [rsp+32] */
		LINE(NONE, 0x48, 0x01, 0xc8),               /* add rax, rcx */
		LINE(LEAVE, 0x48, 0x8b, 0x6c, 0x24, 0x10),  /* mov rbp, [rsp+16] */
		LINE(LEAVE, 0x48, 0x83, 0xc4, 0x18),        /* add rsp, 24 */
		LINE(NONE, 0xc3),                           /* ret */
		LINE(NONE, 0xff, 0xd1),                     /* 1: call rcx */
		LINE(NONE, 0xeb, 0xd1),                     /* jmp to the beginning */
	};

	check(lines, G_N_ELEMENTS(lines), "go");
}

/* Variables at -O0, in a loop: no register is taken from one block to the next. */
static void test_unoptimised(void)
{
	static const Line lines[] = {
		LINE(ENTER, 0x55),                        /* push rbp */
		LINE(ENTER, 0x48, 0x89, 0xe5),            /* mov rbp, rsp */
		LINE(NONE, 0x48, 0x89, 0x7d, 0xe8),       /* mov [rbp-24], rdi */
		LINE(NONE, 0xc7, 0x45, 0xfc, 0, 0, 0, 0), /* mov dword [rbp-4], 0 */
		LINE(NONE, 0xeb, 0x0e),                   /* jmp 2f */
		LINE(NONE, 0x48, 0x8b, 0x45, 0xe8),       /* 1: mov rax, [rbp-24] */
		LINE(NONE, 0x8b, 0x00),                   /* mov eax, [rax] */
		LINE(NONE, 0x01, 0x45, 0xfc),             /* add [rbp-4], eax */
		LINE(NONE, 0x48, 0x83, 0x45, 0xe8, 0x04), /* add qword [rbp-24], 4 */
		LINE(NONE, 0x83, 0x7d, 0xfc, 0x09),       /* 2: cmp dword [rbp-4], 9 */
		LINE(NONE, 0x7e, 0xec),                   /* jle 1b */
		LINE(NONE, 0x8b, 0x45, 0xfc),             /* mov eax, [rbp-4] */
		LINE(LEAVE, 0x5d),                        /* pop rbp */
		LINE(NONE, 0xc3),                         /* ret */
	};

	check(lines, G_N_ELEMENTS(lines), "unoptimised");
}

/* A pointer to an array; spilled registers lie below it. */
static void test_array(void)
{
	static const Line lines[] = {
		LINE(ENTER, 0x48, 0x83, 0xec, 0x28),      /* sub rsp, 40 */
		LINE(SAVE, 0x48, 0x89, 0x34, 0x24),       /* mov [rsp], rsi */
		LINE(NONE, 0x48, 0x89, 0x7c, 0x24, 0x10), /* mov [rsp+16], rdi */
		LINE(NONE, 0x48, 0x8d, 0x7c, 0x24, 0x08), /* lea rdi, [rsp+8] */
		LINE(NONE, 0xff, 0xd2),                   /* call rdx */
		LINE(NONE, 0x48, 0x8b, 0x44, 0x24, 0x10), /* mov rax, [rsp+16] */
		LINE(RELOAD, 0x48, 0x03, 0x04, 0x24),     /* add rax, [rsp] */
		LINE(LEAVE, 0x48, 0x83, 0xc4, 0x28),      /* add rsp, 40 */
		LINE(NONE, 0xc3),                         /* ret */
	};

	check(lines, G_N_ELEMENTS(lines), "array");
}

/* --- random --- */

typedef enum {
	STORE_REGISTER,
	STORE_CONSTANT,
	LOAD,
	LOAD_HALF,
	ADD_TO,
	TAKE,
	INDEX,
	N_KINDS,
} Kind;

typedef struct {
	Kind kind;
	uint32_t place;
	size_t line;
} Access;

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1;
	return *state >> 33;
}

static void append(GArray *lines, LodeFrameUse use, const uint8_t *bytes, size_t n)
{
	Line line = {use, (uint8_t)n, {0}};

	memcpy(line.bytes, bytes, n);
	g_array_append_val(lines, line);
}

static void append_access(GArray *lines, Kind kind, uint8_t r, uint32_t place)
{
	static const uint8_t codes[N_KINDS][2] = {{0x48, 0x89}, {0x48, 0xc7}, {0x48, 0x8b},
		{0x40, 0x8b}, {0x48, 0x01}, {0x48, 0x8d}, {0x48, 0x8b}};
	uint8_t bytes[12] = {codes[kind][0], codes[kind][1],
		(uint8_t)(0x84 | (kind == STORE_CONSTANT ? 0 : r << 3)),
		kind == INDEX ? 0xcc : 0x24};

	memcpy(bytes + 4, &place, sizeof place);
	append(lines, LODE_FRAME_USE_NONE, bytes, kind == STORE_CONSTANT ? 12 : 8);
}

static size_t width(Kind kind)
{
	return kind == LOAD_HALF ? 4 : 8;
}

/* By the list alone. */
static bool is_spilled(const Access *accesses, size_t n, uint32_t place)
{
	bool is_saved = false, is_loaded = false;

	for (size_t i = 0; i < n; i++) {
		const Access *own = &accesses[i];

		if (own->kind == TAKE || own->kind == INDEX) {
			if (own->place < place + 8)
				return false;
			continue;
		}
		if (own->place != place) {
			if (own->place < place + 8 && place < own->place + width(own->kind))
				return false;
			continue;
		}
		if (width(own->kind) != 8)
			return false;
		is_saved |= own->kind == STORE_REGISTER || own->kind == ADD_TO;
		is_loaded |= own->kind == LOAD || own->kind == ADD_TO;
	}
	return is_saved && is_loaded;
}

static void test_random(void)
{
	enum { N_SLOTS = 8, MAX_ACCESSES = 24, N_ROUNDS = 20000, FRAME = 128 };
	static const uint8_t sub[] = {0x48, 0x81, 0xec, FRAME, 0, 0, 0};
	static const uint8_t add[] = {0x48, 0x81, 0xc4, FRAME, 0, 0, 0}, ret[] = {0xc3};
	unsigned n_spilled = 0, n_not = 0;
	uint64_t state = 7;

	for (int round = 0; round < N_ROUNDS; round++) {
		g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(Line));
		Access accesses[MAX_ACCESSES];
		size_t n = 1 + next_random(&state) % MAX_ACCESSES;

		append(lines, LODE_FRAME_USE_ENTER, sub, sizeof sub);
		for (size_t i = 0; i < n; i++) {
			/* what makes pointers is rare, or nothing is spilled */
			Kind kind = (Kind)(next_random(&state) % N_KINDS);
			uint8_t r = (uint8_t)(next_random(&state) % 4);
			if (kind >= LOAD_HALF && next_random(&state) % 4 != 0)
				kind = kind % LOAD_HALF;
			uint32_t place = (uint32_t)(8 * (next_random(&state) % N_SLOTS));
			if (next_random(&state) % 16 == 0)
				place += 4;
			accesses[i] = (Access){kind, place, lines->len};
			append_access(lines, kind, r, place);
			/* the register is lost, so that reads are not needless */
			const uint8_t lost[] = {0x31, (uint8_t)(0xc0 | r << 3 | r)};
			append(lines, LODE_FRAME_USE_NONE, lost, sizeof lost);
		}
		append(lines, LODE_FRAME_USE_LEAVE, add, sizeof add);
		append(lines, LODE_FRAME_USE_NONE, ret, sizeof ret);
		for (size_t i = 0; i < n; i++) {
			Line *line = &g_array_index(lines, Line, accesses[i].line);
			const Kind kind = accesses[i].kind;
			if (kind == TAKE || kind == INDEX ||
				!is_spilled(accesses, n, accesses[i].place)) {
				n_not++;
				continue;
			}
			n_spilled++;
			line->use = kind == LOAD || kind == ADD_TO ? LODE_FRAME_USE_RELOAD
			                                           : LODE_FRAME_USE_SAVE;
		}
		check((const Line *)(const void *)lines->data, lines->len, "random");
	}
	g_test_message("%u accesses of spilled registers, %u others", n_spilled, n_not);
	g_assert_cmpuint(n_spilled, >, 1000);
	g_assert_cmpuint(n_not, >, 1000);
}

/* Garbage is no reason to crash. */
static void test_garbage(void)
{
	uint64_t state = 11;

	for (int round = 0; round < 2000; round++) {
		uint8_t code[200], found[200];
		g_auto(LodeControlFlow) flow = {0};

		for (size_t i = 0; i < sizeof code; i++)
			code[i] = (uint8_t)next_random(&state);
		lode_control_flow_init(&flow);
		lode_control_flow_build(&flow, code, sizeof code, CODE, NULL);
		lode_frame_use_find(&flow, code, sizeof code, CODE, found);
		for (guint i = 0; i < flow.instructions->len; i++)
			g_assert_cmpuint(found[i], <, LODE_N_FRAME_USES);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/frame_use/gcc", test_gcc);
	g_test_add_func("/images/frame_use/go", test_go);
	g_test_add_func("/images/frame_use/unoptimised", test_unoptimised);
	g_test_add_func("/images/frame_use/array", test_array);
	g_test_add_func("/images/frame_use/random", test_random);
	g_test_add_func("/images/frame_use/garbage", test_garbage);
	return g_test_run();
}
