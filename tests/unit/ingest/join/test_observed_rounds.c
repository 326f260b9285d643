/* SPDX-License-Identifier: MIT */
/*
 * Iterations and exits of random loops, by the edges of a random walk, against what the walk itself
 * counted; constants in rcx before a repeated string instruction.
 *
 *   0 ─▶ … ─▶ OUTER ─▶ … ─▶ INNER ─▶ … ─▶ INNER_END ─▶ … ─▶ OUTER_END ─▶ … ─▶ N
 *              ▲              └◀─────────────┘                  │
 *              └◀───────────────────────────────────────────────┘
 */
#include "ingest/join/attributes/string_rounds.h"
#include "ingest/join/loops/observed_rounds.h"

#include "seeds.h"

#include <string.h>

enum {
	OUTER = 3,
	INNER = 7,
	INNER_END = 10,
	OUTER_END = 14,
	N = 18,
	FIRST = 5, /* of the function's instructions; the callee's are after them */
	CALLEE = FIRST + N,
	ALL = CALLEE + 2,
	MAX_WAYS = 4 * N,
	STEPS = 400,
};

typedef struct {
	LodeDependenceNode nodes[N];
	LodeDependenceWay ways[MAX_WAYS];
	uint32_t firsts[N + 1];
	int jumps[N];  /* where a node leads besides the next; −1: nowhere */
	bool calls[N]; /* a call comes between it and the next */
	LodeWindows *windows;
} Program;

/* Forward; a loop is entered by its head alone. */
static bool is_allowed(int from, int to)
{
	bool enters_inner = to > INNER && to <= INNER_END && (from < INNER || from > INNER_END);
	bool enters_outer = to > OUTER && to <= OUTER_END && (from < OUTER || from > OUTER_END);

	return to > from + 1 && !enters_inner && !enters_outer;
}

static int random_jump(int node)
{
	int to = random_int_range(0, N);

	if (node == INNER_END)
		return INNER;
	if (node == OUTER_END)
		return OUTER;
	/* as by `continue` */
	if (node > OUTER && node < OUTER_END && random_int_range(0, 8) == 0)
		return node > INNER && node < INNER_END ? INNER : OUTER;
	return random_int_range(0, 2) == 0 && is_allowed(node, to) ? to : -1;
}

static void make(Program *self)
{
	uint32_t n = 0;

	*self = (Program){.windows = lode_windows_new()};
	for (int i = 0; i < N; i++) {
		self->jumps[i] = random_jump(i);
		self->calls[i] = random_int_range(0, 6) == 0 && self->jumps[i] < 0;
		self->nodes[i] = (LodeDependenceNode){
			.is_call = self->calls[i],
			.is_loop_head = i == OUTER || i == INNER,
			.loop_depth = (uint8_t)((i >= OUTER && i <= OUTER_END) +
						(i >= INNER && i <= INNER_END)),
		};
	}
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < N; k++)
			if (k + 1 == i || self->jumps[k] == i)
				self->ways[n++].source = (uint32_t)k;
		self->firsts[i + 1] = n;
	}
}

/* The walk's counts, for a loop from `begin` to `end`. */
typedef struct {
	int begin, end;
	uint32_t rounds, exits;
} Count;

static void count_step(Count *self, int from, int to)
{
	bool is_inside = from >= self->begin && from <= self->end;
	bool leaves = is_inside && (to < self->begin || to > self->end);

	self->exits += leaves;
	self->rounds += leaves || (is_inside && to == self->begin);
}

static void add_steps(Program *self, uint32_t steps[ALL][ALL])
{
	for (uint32_t i = 0; i < ALL; i++)
		for (uint32_t k = 0; k < ALL; k++)
			if (steps[i][k] > 0) {
				const LodeObservedEdge edge = {i, k, steps[i][k], 1};
				g_array_append_val(self->windows->edges, edge);
			}
}

static void walk(Program *self, Count counts[2])
{
	uint32_t steps[ALL][ALL] = {{0}};

	for (int i = 0, at = 0; i < STEPS; i++) {
		int to = self->jumps[at] >= 0 && random_bit() ? self->jumps[at] : at + 1;
		if (self->calls[at]) {
			steps[FIRST + at][CALLEE]++;
			steps[CALLEE + 1][FIRST + to]++;
		} else if (to < N) {
			steps[FIRST + at][FIRST + to]++;
		}
		for (unsigned k = 0; k < 2 && to < N; k++)
			count_step(&counts[k], at, to);
		at = to < N ? to : 0;
	}
	add_steps(self, steps);
}

static void test_random(void)
{
	uint32_t n_rounds = 0, n_exits = 0;

	for (unsigned round = 0; round < 2000; round++) {
		Program program;
		Count counts[] = {{OUTER, OUTER_END, 0, 0}, {INNER, INNER_END, 0, 0}};
		g_auto(LodeNaturalLoop) loop;
		make(&program);
		walk(&program, counts);
		const LodeDependenceGraph graph = {.nodes = program.nodes,
			.n = N,
			.first_ways = program.firsts,
			.ways = program.ways};
		lode_natural_loop_init(&loop);
		lode_natural_loop_begin(&loop, &graph);
		for (unsigned k = 0; k < 2; k++) {
			uint32_t rounds, exits;
			g_assert_true(lode_natural_loop_find(&loop, (uint32_t)counts[k].begin));
			lode_observed_rounds_count(&loop, program.windows, FIRST, &rounds, &exits);
			g_assert_cmpuint(rounds, ==, counts[k].rounds);
			g_assert_cmpuint(exits, ==, counts[k].exits);
			n_rounds += rounds;
			n_exits += exits;
		}
		lode_windows_free(program.windows);
	}
	g_assert_cmpuint(n_exits, >, 1000);
	g_assert_cmpuint(n_rounds, >, n_exits);
}

/* Of two branches of a loop one was hit by breakpoints alone: the steps of the other count. */
static void test_hits(void)
{
	static const LodeObservedEdge edges[] = {{FIRST + INNER + 1, FIRST + INNER + 2, 60, 9},
		{FIRST + INNER + 1, FIRST + OUTER_END, 3, 2},
		{FIRST + INNER_END, FIRST + INNER, 50, 8},
		{FIRST + INNER_END, FIRST + INNER_END + 1, 1, 1}};

	for (uint32_t hits = 0; hits <= 63; hits += 63) {
		const LodeObservedInstruction facts = {
			.instruction = FIRST + INNER + 1, .hits = hits};
		uint32_t rounds, exits;
		Program program;
		g_auto(LodeNaturalLoop) loop;
		make(&program);
		g_array_append_vals(program.windows->edges, edges, G_N_ELEMENTS(edges));
		g_array_append_val(program.windows->instructions, facts);
		memset(program.calls, 0, sizeof program.calls);
		for (uint32_t i = 0; i < N; i++)
			program.nodes[i].is_call = false;
		const LodeDependenceGraph graph = {.nodes = program.nodes,
			.n = N,
			.first_ways = program.firsts,
			.ways = program.ways};
		lode_natural_loop_init(&loop);
		lode_natural_loop_begin(&loop, &graph);
		g_assert_true(lode_natural_loop_find(&loop, INNER));
		lode_observed_rounds_count(&loop, program.windows, FIRST, &rounds, &exits);
		g_assert_cmpuint(rounds, ==, hits > 0 ? 51 : 54);
		g_assert_cmpuint(exits, ==, hits > 0 ? 1 : 4);
		lode_windows_free(program.windows);
	}
}

/* --- repeated string instructions --- */

enum { STRING = 3 };

typedef struct {
	LodeDependenceNode nodes[STRING + 1];
	LodeDependenceWay ways[STRING + 1];
	uint32_t firsts[STRING + 2];
	const uint8_t (*bytes)[8];
} Code;

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Code *code = data;

	return (LodeLoopBytes){code->bytes[node], sizeof(code->bytes[node])};
}

static void test_constants(void)
{
	static const struct {
		uint8_t bytes[STRING][8];
		int64_t rounds; /* −1: not known */
		unsigned n_ways;
	} cases[] = {
		/* mov ecx, 32; xor eax, eax; mov rdi, rsp */
		{{{0xb9, 32}, {0x31, 0xc0}, {0x48, 0x89, 0xe7}}, 32, 1},
		{{{0xb9, 32}, {0x31, 0xc0}, {0x48, 0x89, 0xe7}}, -1, 2},
		/* xor ecx, ecx */
		{{{0x31, 0xc9}, {0x31, 0xc0}, {0x48, 0x89, 0xe7}}, 0, 1},
		/* mov ecx, 32; inc ecx */
		{{{0xb9, 32}, {0xff, 0xc1}, {0x48, 0x89, 0xe7}}, -1, 1},
		/* mov ecx, 32; call */
		{{{0xb9, 32}, {0xe8, 0}, {0x48, 0x89, 0xe7}}, -1, 1},
		/* mov ecx, 32; rep stosb; mov rdi, rsp */
		{{{0xb9, 32}, {0xf3, 0xaa}, {0x48, 0x89, 0xe7}}, -1, 1},
		/* mov rcx, rdx */
		{{{0x48, 0x89, 0xd1}, {0x31, 0xc0}, {0x48, 0x89, 0xe7}}, -1, 1},
		/* mov edx, 32 */
		{{{0xba, 32}, {0x31, 0xc0}, {0x48, 0x89, 0xe7}}, -1, 1},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Code code = {.bytes = cases[i].bytes};
		uint64_t rounds = 0;
		for (uint32_t k = 0; k < STRING; k++) {
			code.nodes[k].is_known = lode_register_use_decode(
				&code.nodes[k].use, cases[i].bytes[k], 8, 0x1000);
			code.nodes[k].is_call = cases[i].bytes[k][0] == 0xe8;
			code.ways[k].source = k;
			code.firsts[k + 1] = k;
		}
		code.firsts[STRING] = STRING - 1;
		code.firsts[STRING + 1] = STRING - 1 + cases[i].n_ways;
		const LodeDependenceGraph graph = {.nodes = code.nodes,
			.n = STRING + 1,
			.first_ways = code.firsts,
			.ways = code.ways};
		const LodeLoopCode loop_code = {.graph = &graph, .bytes = bytes_of, .data = &code};
		bool is_known = lode_string_rounds_find(&loop_code, STRING, &rounds);
		g_test_message("case %zu", i);
		g_assert_cmpint(is_known ? (int64_t)rounds : -1, ==, cases[i].rounds);
	}
	const uint32_t few = 1u << LODE_JOIN_FACT_ROUNDS_FEW;
	const uint32_t some = 1u << LODE_JOIN_FACT_ROUNDS_SOME;
	g_assert_cmphex(lode_string_rounds_facts(256), ==, few);
	g_assert_cmphex(lode_string_rounds_facts(257), ==, some);
	g_assert_cmphex(lode_string_rounds_facts(4095), ==, some);
	g_assert_cmphex(lode_string_rounds_facts(4096), ==, 1u << LODE_JOIN_FACT_ROUNDS_MANY);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/observed_rounds/random", test_random,
		"R02S1c5b7a90d2e4f5061728394a5b6c7d8e", "R02S77ab12cd34ef56781a2b3c4d5e6f7081",
		NULL);
	g_test_add_func("/observed_rounds/hits", test_hits);
	g_test_add_func("/observed_rounds/constants", test_constants);
	return g_test_run();
}
