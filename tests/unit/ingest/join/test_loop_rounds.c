/* SPDX-License-Identifier: MIT */
/*
 * Rounds of loops of one counter, by their code, against loops in C of the same first value, step,
 * limit and condition; and ways around a loop, by which its rounds are not known.
 *
 *   0 mov ecx, FIRST   1 add ecx, STEP   2 cmp ecx, LIMIT   3 jCC 1   4 ret
 */
#include "ingest/join/loops/loop_rounds.h"

#include <math.h>
#include <string.h>

enum { NODES = 5, MAX_WAYS = 8, MOST = 5000 };

typedef struct {
	LodeDependenceNode nodes[NODES];
	uint32_t firsts[NODES + 1];
	LodeDependenceWay ways[MAX_WAYS];
	bool leaves[NODES];
	uint8_t bytes[NODES][8];
} Program;

static void set_constant(uint8_t *bytes, int32_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static Program make(int32_t first, int32_t step, int32_t limit, uint8_t condition)
{
	Program program = {
		.firsts = {0, 0, 2, 3, 4, 5},
		.ways = {{0, 1}, {3, 1}, {1, 1}, {2, 1}, {3, 1}},
		.leaves = {[4] = true},
		.bytes = {{0xb9}, {0x81, 0xc1}, {0x81, 0xf9}, {(uint8_t)(0x70 | condition), 0},
			{0xc3}},
	};

	set_constant(program.bytes[0] + 1, first);
	set_constant(program.bytes[1] + 2, step);
	set_constant(program.bytes[2] + 2, limit);
	for (size_t i = 0; i < NODES; i++)
		program.nodes[i].is_known = true;
	program.nodes[0].use.changes = lode_register_bit(1);
	program.nodes[1].use.changes = lode_register_bit(1) | lode_register_bit(LODE_BIT_FLAGS);
	program.nodes[2].use.changes = lode_register_bit(LODE_BIT_FLAGS);
	program.nodes[1].is_loop_head = true;
	for (size_t i = 1; i < 4; i++)
		program.nodes[i].loop_depth = 1;
	return program;
}

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Program *program = data;

	return (LodeLoopBytes){program->bytes[node], sizeof(program->bytes[node])};
}

static double count(const Program *program, uint32_t turn, uint32_t node)
{
	const LodeDependenceGraph graph = {
		.nodes = program->nodes,
		.n = NODES,
		.first_ways = program->firsts,
		.ways = program->ways,
	};
	const LodeLoopCode code = {&graph, bytes_of, program->leaves, program};
	g_autoptr(LodeLoopRounds) rounds = lode_loop_rounds_new();

	lode_loop_rounds_begin(rounds, &code);
	return lode_loop_rounds_count(rounds, turn, node);
}

static bool goes_back(int64_t value, int64_t limit, uint8_t condition)
{
	uint32_t low = (uint32_t)value, low_limit = (uint32_t)limit;

	switch (condition) {
	case 0x2:
		return low < low_limit;
	case 0x3:
		return low >= low_limit;
	case 0x5:
		return low != low_limit;
	case 0x6:
		return low <= low_limit;
	case 0x7:
		return low > low_limit;
	case 0xc:
		return value < limit;
	case 0xd:
		return value >= limit;
	case 0xe:
		return value <= limit;
	default:
		return value > limit;
	}
}

/* As the processor does, which wraps. 0: many. */
static double count_naively(int32_t first, int32_t step, int32_t limit, uint8_t condition)
{
	int64_t value = first;

	for (int n = 1; n < MOST; n++) {
		value += step;
		if (!goes_back(value, limit, condition))
			return n;
	}
	return 0;
}

static void test_counters(void)
{
	static const uint8_t conditions[] = {0x2, 0x3, 0x5, 0x6, 0x7, 0xc, 0xd, 0xe, 0xf};
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	int n_known = 0;

	for (int i = 0; i < 20000; i++) {
		uint8_t condition =
			conditions[g_rand_int_range(random, 0, (gint32)G_N_ELEMENTS(conditions))];
		int32_t first = g_rand_int_range(random, -40, 400);
		int32_t limit = g_rand_int_range(random, -40, 2000);
		int32_t step = g_rand_int_range(random, -8, 9);
		const Program program = make(first, step, limit, condition);
		double found = count(&program, LODE_LOOP_OF_CALL, 1);
		double expected = count_naively(first, step, limit, condition);
		g_test_message("%d + %d, %d, j%x: %g", first, step, limit, condition, expected);
		/* Rounds without an end are not known; nor need those that wrap. */
		if (found > 0 && found < MOST)
			g_assert_cmpfloat(found, ==, expected);
		n_known += found > 0;
	}
	g_assert_cmpint(n_known, >, 5000);
}

/* lea rdx, [base + distance]; add rcx, step; cmp rcx, rdx; jne: the beginning is not known. */
static void test_ends(void)
{
	static const struct {
		uint8_t base; /* ModRM of lea */
		int32_t step, distance;
		double rounds;
	} cases[] = {
		{0x91, 4096, 819200, 200},            /* rcx */
		{0x91, -8, -64, 8}, {0x91, 8, 60, 0}, /* never equal */
		{0x91, 8, -64, 0},                    /* not soon */
		{0x97, 8, 64, 0},                     /* rdi */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Program program = make(0, 0, 0, 0x5);
		const uint8_t lea[] = {0x48, 0x8d, cases[i].base}, add[] = {0x48, 0x81, 0xc1};
		const uint8_t compare[] = {0x48, 0x39, 0xd1};
		memcpy(program.bytes[0], lea, sizeof(lea));
		set_constant(program.bytes[0] + 3, cases[i].distance);
		memcpy(program.bytes[1], add, sizeof(add));
		set_constant(program.bytes[1] + 3, cases[i].step);
		memcpy(program.bytes[2], compare, sizeof(compare));
		program.nodes[0].use.changes = lode_register_bit(2);
		g_test_message("case %zu", i);
		g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, cases[i].rounds);
		/* below: wherever it begins, it may be past the end */
		program.bytes[3][0] = 0x72;
		g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, 0);
	}
}

static void test_executions(void)
{
	Program program = make(0, 16, 4096, 0x5);

	g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, 256);
	g_assert_cmpfloat(count(&program, 1, 2), ==, 1);
	g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 4), ==, 1);
	/* Another way out of the loop, and one around it. */
	program.leaves[1] = true;
	g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, 0);
	program.leaves[1] = false;
	program.leaves[0] = true;
	g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, 0);
	program.leaves[0] = false;
	/* The first value is an argument. */
	memset(program.bytes[0], 0x90, sizeof(program.bytes[0]));
	program.nodes[0].use.changes = 0;
	g_assert_cmpfloat(count(&program, LODE_LOOP_OF_CALL, 1), ==, 0);
}

static double count_left(const Program *program, uint32_t node, uint64_t rcx)
{
	const LodeDependenceGraph graph = {
		.nodes = program->nodes,
		.n = NODES,
		.first_ways = program->firsts,
		.ways = program->ways,
	};
	const LodeLoopCode code = {&graph, bytes_of, program->leaves, program};
	const uint64_t registers[LODE_LOOP_REGISTERS] = {[1] = rcx};
	const LodeLoopSample sample = {node, 1u << 1, registers};
	g_autoptr(LodeLoopRounds) rounds = lode_loop_rounds_new();

	lode_loop_rounds_begin(rounds, &code);
	g_assert_true(lode_loop_rounds_find(rounds, 1));
	return lode_loop_rounds_left(rounds, &sample);
}

/* Rounds that are left, by the counter's value in some round. */
static void test_left(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(2);

	for (int i = 0; i < 2000; i++) {
		int32_t first = g_rand_int_range(random, -40, 400);
		int32_t step = g_rand_int_range(random, 1, 9);
		int32_t n = g_rand_int_range(random, 1, 300);
		int32_t round = g_rand_int_range(random, 1, n + 1);
		/* jne, whose limit is met; or jl, whose limit may be passed */
		bool is_less = g_rand_boolean(random);
		int32_t limit = first + n * step -
		                (is_less ? g_rand_int_range(random, 0, step) : 0);
		uint32_t node = (uint32_t)g_rand_int_range(random, 1, 4);
		const Program program = make(first, step, limit, is_less ? 0xc : 0x5);
		int32_t rcx = first + step * (node == 1 ? round - 1 : round);
		g_assert_cmpfloat(count_left(&program, node, (uint32_t)rcx), ==, n - round + 1);
	}
	Program early = make(0, 1, 100, 0x5);
	early.leaves[2] = true;
	g_assert_cmpfloat(count_left(&early, 1, 10), ==, 0);
}

/* Samples at random moments of calls with rounds at random; few samples say nothing. */
static void test_mean(void)
{
	enum { SAMPLES = 2000, LEAST = 500, MOST_ROUNDS = 2000 };
	g_autoptr(GRand) random = g_rand_new_with_seed(3);
	double left[SAMPLES];

	for (int i = 0; i < SAMPLES;) {
		/* Long calls have more samples. */
		double rounds = g_rand_int_range(random, LEAST, MOST_ROUNDS);
		if (g_rand_double(random) * MOST_ROUNDS < rounds)
			left[i++] = floor(g_rand_double(random) * rounds) + 1;
	}
	LodeMeanRounds found = lode_mean_rounds(left, SAMPLES);
	double mean = (LEAST + MOST_ROUNDS) / 2.0;
	g_assert_cmpfloat(fabs(found.mean - mean), <, 0.1 * mean);
	g_assert_cmpfloat(found.error, <, 0.1);
	g_assert_cmpfloat(lode_mean_rounds(left, 10).mean, ==, 0);
	/* One round in half of the calls, 999 in the others. */
	for (int i = 0; i < SAMPLES; i++)
		left[i] = i < SAMPLES / 500 ? 1 : floor(g_rand_double(random) * 999) + 1;
	found = lode_mean_rounds(left, SAMPLES);
	g_assert_cmpfloat(found.mean, >, 300);
	g_assert_cmpfloat(found.mean, <, 1100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/loop_rounds/counters", test_counters);
	g_test_add_func("/ingest/loop_rounds/executions", test_executions);
	g_test_add_func("/ingest/loop_rounds/ends", test_ends);
	g_test_add_func("/ingest/loop_rounds/left", test_left);
	g_test_add_func("/ingest/loop_rounds/mean", test_mean);
	return g_test_run();
}
