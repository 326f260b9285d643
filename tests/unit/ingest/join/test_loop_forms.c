/* SPDX-License-Identifier: MIT */
/*
 * Random loops, with ways that part and meet, an inner loop and calls, that are executed with
 * random registers: the iterations between two moments against those that were executed.
 */
#include "ingest/join/loops/loop_forms.h"

#include "images/data/data_access.h"

#include <string.h>

enum {
	MAX_NODES = 14,
	MAX_WAYS = 3 * MAX_NODES,
	CASES = 3000,
	USED = 5,
	STEPS = 400,
	MOMENTS = 24
};

typedef enum { OP_NONE, OP_ADVANCE, OP_CLOBBER, OP_CALL } OpKind;

typedef struct {
	OpKind kind;
	uint8_t target, source;
	uint8_t width;
	int8_t constant;
	uint8_t bytes[5]; /* of an advance */
} Op;

/* Node 0 is outside, before the loop; 1 is the head. */
typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	Op ops[MAX_NODES];
	uint32_t next[MAX_NODES][2]; /* the same twice: one way */
	uint32_t n;
} Program;

static const uint8_t used[USED] = {0, 1, 3, 6, 12}; /* rax, rcx, rbx, rsi, r12 */

/* lea target, [source + constant] */
static void write_lea(Op *op)
{
	const uint8_t bytes[] = {
		(uint8_t)(0x40 | (op->width == 64) << 3 | op->target >> 3 << 2 | op->source >> 3),
		0x8d, (uint8_t)(0x44 | (op->target & 7) << 3), (uint8_t)(0x20 | (op->source & 7)),
		(uint8_t)op->constant};

	memcpy(op->bytes, bytes, sizeof(bytes));
}

static void draw_op(GRand *random, Program *program, uint32_t node)
{
	LodeDependenceNode *at = &program->nodes[node];
	Op *op = &program->ops[node];
	int kind = g_rand_int_range(random, 0, 12);

	if (kind < 6) {
		*op = (Op){
			.kind = OP_ADVANCE,
			.target = used[g_rand_int_range(random, 0, USED)],
			.width = g_rand_int_range(random, 0, 4) == 0 ? 32 : 64,
			.constant = (int8_t)g_rand_int_range(random, -3, 4),
		};
		op->source = g_rand_int_range(random, 0, 4) == 0
		                     ? used[g_rand_int_range(random, 0, USED)]
		                     : op->target;
		at->use.changes = lode_register_bit(op->target);
		write_lea(op);
	} else if (kind == 6) {
		*op = (Op){.kind = OP_CLOBBER, .target = used[g_rand_int_range(random, 0, USED)]};
		at->use.changes = lode_register_bit(op->target);
	} else if (kind == 7) {
		*op = (Op){.kind = OP_CALL};
		at->is_call = true;
		at->use.changes = 0x0fc7 | lode_register_bit(LODE_REGISTER_RSP);
	}
}

/* A chain of nodes; some skip ahead, one may go back to an inner head. */
static void draw(GRand *random, Program *program)
{
	*program = (Program){.n = (uint32_t)g_rand_int_range(random, 3, MAX_NODES + 1)};
	uint32_t n = program->n, inner = 0, inner_end = 0;

	if (n > 6 && g_rand_boolean(random)) {
		inner = (uint32_t)g_rand_int_range(random, 2, (gint32)n - 3);
		inner_end = (uint32_t)g_rand_int_range(random, (gint32)inner, (gint32)n - 2);
	}
	for (uint32_t i = 0; i < n; i++) {
		bool is_inner = inner > 0 && i >= inner && i <= inner_end;
		uint32_t after = i + 1 < n ? i + 1 : 1, end = is_inner ? inner_end : n - 1;
		program->nodes[i].is_known = true;
		program->nodes[i].loop_depth = (uint8_t)((i > 0) + is_inner);
		program->next[i][0] = program->next[i][1] = after;
		/* not into an inner loop but at its head */
		uint32_t skipped = i + 2;
		if (i > 0 && skipped <= end && g_rand_int_range(random, 0, 4) == 0 &&
			(is_inner || skipped <= inner || skipped > inner_end))
			program->next[i][1] = skipped;
		if (i > 0)
			draw_op(random, program, i);
	}
	program->nodes[1].is_loop_head = true;
	if (inner > 0) {
		program->nodes[inner].is_loop_head = true;
		program->next[inner_end][1] = inner;
	}
}

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Op *op = &((const Program *)data)->ops[node];

	return op->kind == OP_ADVANCE ? (LodeLoopBytes){op->bytes, sizeof(op->bytes)}
	                              : (LodeLoopBytes){NULL, 0};
}

static uint32_t list_ways(const Program *program, uint32_t *firsts, LodeDependenceWay *ways)
{
	uint32_t n = 0;

	for (uint32_t to = 0; to < program->n; to++) {
		firsts[to] = n;
		for (uint32_t from = 0; from < program->n; from++)
			if (program->next[from][0] == to || program->next[from][1] == to)
				ways[n++] = (LodeDependenceWay){from, 0.5};
	}
	firsts[program->n] = n;
	return n;
}

static void execute(GRand *random, const Op *op, uint64_t *registers)
{
	if (op->kind == OP_ADVANCE) {
		uint64_t value = registers[op->source] + (uint64_t)op->constant;
		registers[op->target] = op->width == 32 ? (uint32_t)value : value;
	} else if (op->kind == OP_CLOBBER) {
		registers[op->target] = g_rand_int(random);
	} else if (op->kind == OP_CALL) {
		/* what no compiler uses over a call */
		registers[0] = g_rand_int(random);
		registers[2] = g_rand_int(random);
	}
}

typedef struct {
	uint64_t registers[LODE_LOOP_REGISTERS];
	uint32_t node;
	int64_t iteration;
} Moment;

/* Gives moments before nodes of the loop. */
static unsigned run(GRand *random, const Program *program, Moment *moments)
{
	Moment now = {.node = 1};
	unsigned n = 0;

	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++)
		now.registers[i] = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
	for (unsigned step = 0; step < STEPS && n < MOMENTS; step++) {
		if (g_rand_int_range(random, 0, STEPS / MOMENTS) == 0)
			moments[n++] = now;
		execute(random, &program->ops[now.node], now.registers);
		now.node = program->next[now.node][g_rand_boolean(random)];
		now.iteration += now.node == 1;
	}
	return n;
}

static void test_random(void)
{
	unsigned n_known = 0, n_advancing = 0;

	for (unsigned seed = 0; seed < CASES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		g_auto(LodeNaturalLoop) loop = {0};
		g_auto(LodeLoopForms) forms = {0};
		uint32_t firsts[MAX_NODES + 1];
		LodeDependenceWay ways[MAX_WAYS];
		Moment moments[MOMENTS];
		Program program;
		draw(random, &program);
		list_ways(&program, firsts, ways);
		const LodeDependenceGraph graph = {
			.nodes = program.nodes, .n = program.n, .first_ways = firsts, .ways = ways};
		lode_natural_loop_init(&loop);
		lode_loop_forms_init(&forms);
		lode_natural_loop_begin(&loop, &graph);
		g_assert_true(lode_natural_loop_find(&loop, 1));
		g_assert_cmpuint(loop.body->len, ==, program.n - 1);
		const LodeLoopCode code = {.graph = &graph, .bytes = bytes_of, .data = &program};
		g_assert_true(lode_loop_forms_find(&forms, &loop, &code, NULL));
		for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++)
			n_advancing += forms.steps[i] != 0;
		unsigned n = run(random, &program, moments);
		for (unsigned i = 1; i < n; i++) {
			const Moment *a = &moments[i - 1], *b = &moments[i];
			const LodeLoopSample first = {a->node, UINT32_MAX, a->registers},
					     second = {b->node, UINT32_MAX, b->registers};
			int64_t iterations = INT64_MIN;
			LodeIterations found = lode_loop_forms_between(
				&forms, &first, &second, &iterations);
			if (found != LODE_ITERATIONS_KNOWN) {
				g_assert_cmpint(found, ==, LODE_ITERATIONS_UNKNOWN);
				continue;
			}
			n_known++;
			if (iterations != b->iteration - a->iteration)
				g_error("case %u: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
					seed, iterations, b->iteration - a->iteration);
		}
	}
	g_test_message("%u registers advance, %u pairs known", n_advancing, n_known);
	g_assert_cmpuint(n_advancing, >, CASES / 4);
	g_assert_cmpuint(n_known, >, CASES);
}

/* --- by hand: head: add rax, 4; dec ecx; jump to the head --- */

static LodeLoopBytes two_advances(const void *data, uint32_t node)
{
	static const uint8_t code[][4] = {{0x48, 0x83, 0xc0, 4}, {0xff, 0xc9}};

	(void)data;
	return (LodeLoopBytes){code[node], sizeof(code[node])};
}

typedef struct {
	uint64_t rax, rcx, rbx, rsp;
} Four;

static LodeIterations between_known(Four a, Four b, uint32_t known, int64_t *out_n)
{
	const LodeDependenceNode nodes[] = {
		{.is_known = true, .loop_depth = 1, .is_loop_head = true, .use = {.changes = 1}},
		{.is_known = true, .loop_depth = 1, .use = {.changes = 2}}};
	const uint32_t firsts[] = {0, 1, 2};
	const LodeDependenceWay ways[] = {{1, 1}, {0, 1}};
	const LodeDependenceGraph graph = {
		.nodes = nodes, .n = 2, .first_ways = firsts, .ways = ways};
	const uint64_t first[LODE_LOOP_REGISTERS] = {a.rax, a.rcx, 0, a.rbx, a.rsp};
	const uint64_t second[LODE_LOOP_REGISTERS] = {b.rax, b.rcx, 0, b.rbx, b.rsp};
	g_auto(LodeNaturalLoop) loop = {0};
	g_auto(LodeLoopForms) forms = {0};

	lode_natural_loop_init(&loop);
	lode_loop_forms_init(&forms);
	lode_natural_loop_begin(&loop, &graph);
	g_assert_true(lode_natural_loop_find(&loop, 0));
	const LodeLoopCode code = {.graph = &graph, .bytes = two_advances};
	g_assert_true(lode_loop_forms_find(&forms, &loop, &code, NULL));
	const LodeLoopSample samples[] = {{0, known, first}, {0, known, second}};
	return lode_loop_forms_between(&forms, &samples[0], &samples[1], out_n);
}

static LodeIterations between(Four a, Four b, int64_t *out_n)
{
	return between_known(a, b, UINT32_MAX, out_n);
}

/* In a caller, where a value that is not known is anything. */
static void test_known(void)
{
	const uint32_t rcx = 1u << 1, rbx = 1u << 3;
	const Four first = {0, 100, 5, 9}, second = {7, 90, 6, 9};
	int64_t n = 0;

	g_assert_cmpint(between_known(first, second, 0, &n), ==, LODE_ITERATIONS_UNKNOWN);
	g_assert_cmpint(between_known(first, second, rcx, &n), ==, LODE_ITERATIONS_KNOWN);
	g_assert_cmpint(n, ==, 10);
	g_assert_cmpint(
		between_known(first, second, rcx | rbx, &n), ==, LODE_ITERATIONS_OF_OTHER_CALL);
	g_assert_cmpint(
		between_known(first, second, rcx | 1, &n), ==, LODE_ITERATIONS_CONTRADICTORY);
}

static void test_by_hand(void)
{
	int64_t n = 0;

	g_assert_cmpint(
		between((Four){0, 100, 5, 9}, (Four){40, 90, 5, 9}, &n), ==, LODE_ITERATIONS_KNOWN);
	g_assert_cmpint(n, ==, 10);
	/* backward: it began again */
	g_assert_cmpint(
		between((Four){40, 90, 5, 9}, (Four){0, 100, 5, 9}, &n), ==, LODE_ITERATIONS_KNOWN);
	g_assert_cmpint(n, ==, -10);
	/* the narrow one has wrapped */
	g_assert_cmpint(between((Four){0, 3, 5, 9}, (Four){UINT64_C(0x400000000), 3, 5, 9}, &n), ==,
		LODE_ITERATIONS_KNOWN);
	g_assert_cmpint(n, ==, INT64_C(0x100000000));
	/* they disagree; no whole number; another call by rbx, by rsp */
	g_assert_cmpint(between((Four){0, 100, 5, 9}, (Four){40, 91, 5, 9}, &n), ==,
		LODE_ITERATIONS_CONTRADICTORY);
	g_assert_cmpint(between((Four){0, 100, 5, 9}, (Four){41, 90, 5, 9}, &n), ==,
		LODE_ITERATIONS_CONTRADICTORY);
	g_assert_cmpint(between((Four){0, 100, 5, 9}, (Four){40, 90, 6, 9}, &n), ==,
		LODE_ITERATIONS_OF_OTHER_CALL);
	g_assert_cmpint(between((Four){0, 100, 5, 9}, (Four){40, 90, 5, 8}, &n), ==,
		LODE_ITERATIONS_OF_OTHER_CALL);
	/* garbage */
	between((Four){UINT64_C(1) << 63, 0, 0, 0}, (Four){0, UINT64_MAX, 0, 0}, &n);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/loop-forms/random", test_random);
	g_test_add_func("/ingest/loop-forms/known", test_known);
	g_test_add_func("/ingest/loop-forms/by-hand", test_by_hand);
	return g_test_run();
}
