/* SPDX-License-Identifier: MIT */
/*
 * Random loops in loops, with ways that part and meet, and accesses by a base and an index, that
 * are executed: the strides that the code tells against the addresses of the accesses.
 */
#include "ingest/join/loops/loop_strides.h"

#include "images/data/data_access.h"

#include <string.h>

enum { MAX_NODES = 16, MAX_WAYS = 3 * MAX_NODES, CASES = 1500, USED = 5, STEPS = 300 };

typedef enum { OP_NONE, OP_ADVANCE, OP_CONSTANT, OP_CLOBBER, OP_SUM, OP_PRODUCT } OpKind;

typedef struct {
	OpKind kind;
	uint8_t target, source;
	uint8_t other, scale; /* of a sum: source + other × scale; of a product: other */
	int64_t constant;
	uint8_t bytes[8], size;
} Op;

/* Node 0 is outside, before the loops; 1 is the head of the outer one. */
typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	Op ops[MAX_NODES];
	uint32_t next[MAX_NODES][2]; /* the same twice: one way */
	uint32_t n, inner, inner_end;
} Program;

static const uint8_t used[USED] = {0, 1, 3, 6, 7}; /* rax, rcx, rbx, rsi, rdi */

static uint8_t draw_register(GRand *random)
{
	return used[g_rand_int_range(random, 0, USED)];
}

/* An access where nothing is done to registers. */
static void draw_access(GRand *random, LodeMemoryUse *memory)
{
	static const uint8_t scales[] = {1, 2, 4, 8};

	*memory = (LodeMemoryUse){
		.base = g_rand_int_range(random, 0, 8) == 0 ? LODE_NO_BIT : draw_register(random),
		.index = g_rand_boolean(random) ? LODE_NO_BIT : draw_register(random),
		.scale = scales[g_rand_int_range(random, 0, 4)],
		.displacement = g_rand_int_range(random, 0, 100),
		.size = 8,
		.is_load = true,
	};
}

static void set_bytes(Op *op, const uint8_t *bytes, size_t size)
{
	memcpy(op->bytes, bytes, size);
	op->size = (uint8_t)size;
}

static void draw_op(GRand *random, Program *program, uint32_t node)
{
	LodeDependenceNode *at = &program->nodes[node];
	Op *op = &program->ops[node];
	int kind = g_rand_int_range(random, 0, 16);
	uint8_t target = draw_register(random);

	if (kind >= 7) {
		draw_access(random, &at->use.memory);
		return;
	}
	at->use.changes = lode_register_bit(target);
	*op = (Op){.target = target, .source = target};
	if (kind < 3) {
		/* lea r64, [source + disp8] */
		op->kind = OP_ADVANCE;
		op->constant = g_rand_int_range(random, -40, 41);
		if (g_rand_int_range(random, 0, 3) == 0)
			op->source = draw_register(random);
		const uint8_t bytes[] = {0x48, 0x8d, (uint8_t)(0x40 | target << 3 | op->source),
			(uint8_t)op->constant};
		set_bytes(op, bytes, sizeof(bytes));
	} else if (kind == 3) {
		/* lea r64, [source + other × 2 ^ k] */
		unsigned log = (unsigned)g_rand_int_range(random, 0, 4);
		op->kind = OP_SUM;
		op->source = draw_register(random);
		op->other = draw_register(random);
		op->scale = (uint8_t)(1u << log);
		const uint8_t bytes[] = {0x48, 0x8d, (uint8_t)(0x04 | target << 3),
			(uint8_t)(log << 6 | (unsigned)op->other << 3 | op->source)};
		set_bytes(op, bytes, sizeof(bytes));
	} else if (kind == 4) {
		/* imul target, other */
		op->kind = OP_PRODUCT;
		op->other = draw_register(random);
		const uint8_t bytes[] = {
			0x48, 0x0f, 0xaf, (uint8_t)(0xc0 | target << 3 | op->other)};
		set_bytes(op, bytes, sizeof(bytes));
	} else if (kind == 5) {
		/* mov r32, imm32 */
		uint32_t value = (uint32_t)g_rand_int_range(random, 1 << 24, 1 << 25);
		uint8_t bytes[5] = {(uint8_t)(0xb8 | target)};
		op->kind = OP_CONSTANT;
		op->constant = value;
		memcpy(bytes + 1, &value, sizeof(value));
		set_bytes(op, bytes, sizeof(bytes));
	} else {
		op->kind = OP_CLOBBER;
	}
}

/* A chain of nodes, of which a part is a loop inside; some skip one. */
static void draw(GRand *random, Program *program)
{
	*program = (Program){.n = (uint32_t)g_rand_int_range(random, 7, MAX_NODES + 1)};
	uint32_t n = program->n;

	program->inner = (uint32_t)g_rand_int_range(random, 2, (gint32)n - 3);
	program->inner_end = (uint32_t)g_rand_int_range(
		random, (gint32)program->inner, (gint32)n - 2);
	for (uint32_t i = 0; i < n; i++) {
		bool is_inner = i >= program->inner && i <= program->inner_end;
		uint32_t end = is_inner ? program->inner_end : n - 1, skipped = i + 2;
		program->nodes[i].is_known = true;
		program->nodes[i].weight = 1;
		program->nodes[i].loop_depth = (uint8_t)((i > 0) + is_inner);
		program->next[i][0] = program->next[i][1] = i + 1 < n ? i + 1 : 1;
		/* not into the loop inside but at its head */
		if (i > 0 && skipped <= end && g_rand_int_range(random, 0, 5) == 0 &&
			(is_inner || skipped <= program->inner || skipped > program->inner_end))
			program->next[i][1] = skipped;
		if (i > 0)
			draw_op(random, program, i);
	}
	program->nodes[1].is_loop_head = true;
	program->nodes[program->inner].is_loop_head = true;
	program->next[program->inner_end][1] = program->inner;
}

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Program *program = data;

	return program->ops[node].size > 0
	               ? (LodeLoopBytes){program->ops[node].bytes, program->ops[node].size}
	               : (LodeLoopBytes){NULL, 0};
}

static void list_ways(const Program *program, uint32_t *firsts, LodeDependenceWay *ways)
{
	uint32_t n = 0;

	for (uint32_t to = 0; to < program->n; to++) {
		firsts[to] = n;
		for (uint32_t from = 0; from < program->n; from++)
			if (program->next[from][0] == to || program->next[from][1] == to)
				ways[n++] = (LodeDependenceWay){from, 0.5};
	}
	firsts[program->n] = n;
}

/* --- what is executed --- */

typedef struct {
	uint64_t registers[LODE_LOOP_REGISTERS];
	uint32_t node;
	uint32_t turn;  /* of the outer loop */
	uint32_t round; /* of the inner loop, in this turn */
} Moment;

static void execute(GRand *random, const Op *op, uint64_t *registers)
{
	uint64_t *target = &registers[op->target];

	if (op->kind == OP_ADVANCE) {
		*target = registers[op->source] + (uint64_t)op->constant;
	} else if (op->kind == OP_SUM) {
		*target = registers[op->source] + registers[op->other] * op->scale;
	} else if (op->kind == OP_PRODUCT) {
		*target *= registers[op->other];
	} else if (op->kind == OP_CONSTANT) {
		*target = (uint64_t)op->constant;
	} else if (op->kind == OP_CLOBBER) {
		*target = (uint64_t)g_rand_int_range(random, 1 << 24, 1 << 25);
	}
}

static uint64_t address_of(const LodeMemoryUse *memory, const Moment *moment)
{
	uint64_t base = memory->base == LODE_NO_BIT ? 0 : moment->registers[memory->base];
	uint64_t index = memory->index == LODE_NO_BIT ? 0 : moment->registers[memory->index];

	return base + index * memory->scale + (uint64_t)memory->displacement;
}

/* Compares all moments of a node with the ones that come next. */
typedef struct {
	unsigned n_strides, n_equal_turns, n_equal;
	int64_t moved[MAX_NODES];                   /* from the round before… */
	uint32_t turn[MAX_NODES], round[MAX_NODES]; /* …to this one */
} Compared;

static void compare(const Program *program, const LodeLoopStride *strides, const Moment *a,
	const Moment *b, Compared *inout)
{
	const LodeMemoryUse *memory = &program->nodes[a->node].use.memory;
	const LodeLoopStride *it = &strides[a->node];
	bool is_inner = a->node >= program->inner && a->node <= program->inner_end;
	int64_t moved = (int64_t)(address_of(memory, b) - address_of(memory, a));
	bool is_next = is_inner ? b->turn == a->turn && b->round == a->round + 1
	                        : b->turn == a->turn + 1;
	bool is_next_turn = is_inner && b->turn == a->turn + 1 && b->round == a->round;

	if (it->is_known && is_next) {
		g_assert_cmpint(moved, ==, it->stride);
		inout->n_strides += it->stride != 0;
	}
	if (it->is_equal && is_next) {
		uint32_t n = a->node;
		bool has_before = inout->turn[n] == a->turn &&
		                  (!is_inner || inout->round[n] == a->round);
		if (has_before) {
			g_assert_cmpint(moved, ==, inout->moved[n]);
			inout->n_equal++;
		}
		inout->moved[n] = moved;
		inout->turn[n] = b->turn;
		inout->round[n] = b->round;
	}
	/* where the stride is not known, other rounds may be anywhere */
	if (it->comes_back && is_next_turn && (it->is_known || a->round == 0)) {
		g_assert_cmpint(moved, >, -64);
		g_assert_cmpint(moved, <, 64);
		inout->n_equal_turns++;
	}
}

static void run(
	GRand *random, const Program *program, const LodeLoopStride *strides, Compared *inout)
{
	g_autoptr(GArray) moments = g_array_new(FALSE, FALSE, sizeof(Moment));
	Moment now = {.node = 0};

	for (unsigned i = 0; i < MAX_NODES; i++)
		inout->turn[i] = inout->round[i] = UINT32_MAX;

	for (unsigned i = 0; i < LODE_LOOP_REGISTERS; i++)
		now.registers[i] = (uint64_t)g_rand_int_range(random, 1 << 24, 1 << 25);
	for (unsigned step = 0; step < STEPS; step++) {
		g_array_append_val(moments, now);
		execute(random, &program->ops[now.node], now.registers);
		uint32_t from = now.node;
		now.node = program->next[from][g_rand_boolean(random)];
		now.turn += now.node == 1;
		bool is_back = from >= program->inner && from <= program->inner_end;
		if (now.node == program->inner)
			now.round = is_back ? now.round + 1 : 0;
	}
	for (guint i = 0; i < moments->len; i++)
		for (guint k = i + 1; k < moments->len; k++) {
			const Moment *a = &g_array_index(moments, Moment, i);
			const Moment *b = &g_array_index(moments, Moment, k);
			if (a->node == b->node && program->nodes[a->node].use.memory.size > 0)
				compare(program, strides, a, b, inout);
		}
}

static void test_random(void)
{
	g_autoptr(LodeLoopStrides) search = lode_loop_strides_new();
	Compared compared = {0};

	for (unsigned seed = 0; seed < CASES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		uint32_t firsts[MAX_NODES + 1];
		LodeDependenceWay ways[MAX_WAYS];
		LodeLoopStride strides[MAX_NODES];
		Program program;
		draw(random, &program);
		list_ways(&program, firsts, ways);
		const LodeDependenceGraph graph = {
			.nodes = program.nodes, .n = program.n, .first_ways = firsts, .ways = ways};
		const LodeLoopCode code = {&graph, bytes_of, NULL, &program};
		lode_loop_strides_find(search, &code, 0, strides);
		g_assert_false(strides[0].is_known);
		g_test_message("case %u", seed);
		run(random, &program, strides, &compared);
	}
	g_test_message("%u strides, %u turns, %u equal", compared.n_strides, compared.n_equal_turns,
		compared.n_equal);
	g_assert_cmpuint(compared.n_equal, >, 100);
	g_assert_cmpuint(compared.n_strides, >, 5000);
	g_assert_cmpuint(compared.n_equal_turns, >, 100);
}

/* --- by hand: a matrix by its columns --- */

enum { ENTRY, OUTER, INNER, STEP, COMPARE, JUMP, MOVE, AGAIN, N_BY_HAND };

typedef struct {
	uint8_t bytes[N_BY_HAND][8];
} ByHand;

static LodeLoopBytes bytes_by_hand(const void *data, uint32_t node)
{
	const ByHand *self = data;

	return self->bytes[node][0] != 0 ? (LodeLoopBytes){self->bytes[node], 8}
	                                 : (LodeLoopBytes){NULL, 0};
}

/* `second`: the displacement of another access in the inner loop; 0: there is none. */
static LodeLoopStride walk_by_hand(int32_t row, int32_t column, double n_rows, int64_t second)
{
	/* mov rax, rdi; add rax, imm32; add rdi, imm32 */
	ByHand by_hand = {{[OUTER] = {0x48, 0x89, 0xf8},
		[STEP] = {0x48, 0x81, 0xc0},
		[MOVE] = {0x48, 0x81, 0xc7}}};
	const uint32_t firsts[] = {0, 0, 2, 4, 5, 6, 7, 8, 9};
	const LodeDependenceWay ways[] = {{ENTRY, 1}, {AGAIN, 1}, {OUTER, 1}, {JUMP, 1}, {INNER, 1},
		{STEP, 1}, {COMPARE, 1}, {JUMP, 1}, {MOVE, 1}};
	LodeDependenceNode nodes[N_BY_HAND] = {0};
	LodeLoopStride strides[N_BY_HAND];
	g_autoptr(LodeLoopStrides) search = lode_loop_strides_new();

	memcpy(by_hand.bytes[STEP] + 3, &row, sizeof(row));
	memcpy(by_hand.bytes[MOVE] + 3, &column, sizeof(column));
	for (uint32_t i = 0; i < N_BY_HAND; i++)
		nodes[i] = (LodeDependenceNode){
			.is_known = true,
			.weight = 1,
			.is_loop_head = i == OUTER || i == INNER,
			.loop_depth = i == ENTRY                ? 0
		                      : i >= INNER && i <= JUMP ? 2
		                                                : 1,
			.count = i >= INNER && i <= JUMP ? 10 * n_rows : 10,
		};
	nodes[OUTER].use.changes = nodes[STEP].use.changes = lode_register_bit(0);
	nodes[MOVE].use.changes = lode_register_bit(7);
	nodes[INNER].use.memory = (LodeMemoryUse){
		.base = 0, .index = LODE_NO_BIT, .size = 4, .is_load = true};
	if (second != 0) {
		nodes[COMPARE].use.memory = nodes[INNER].use.memory;
		nodes[COMPARE].use.memory.displacement = second;
	}
	const LodeDependenceGraph graph = {
		.nodes = nodes, .n = N_BY_HAND, .first_ways = firsts, .ways = ways};
	const LodeLoopCode code = {&graph, bytes_by_hand, NULL, &by_hand};
	lode_loop_strides_find(search, &code, 0, strides);
	return strides[INNER];
}

static LodeLoopStride stride_by_hand(int32_t row, int32_t column, double n_rows)
{
	return walk_by_hand(row, column, n_rows, 0);
}

/* Four bytes at a time, of lines of 64 or of what the loop passes over. */
static void test_used(void)
{
	g_assert_cmpfloat(walk_by_hand(4096, 4, 200, 0).used, ==, 4.0 / 64);
	g_assert_cmpfloat(walk_by_hand(4096, 4, 200, 60).used, ==, 8.0 / 64);
	g_assert_cmpfloat(walk_by_hand(4096, 4, 200, 64).used, ==, 8.0 / 128);
	g_assert_cmpfloat(walk_by_hand(4096, 4, 200, -1).used, ==, 8.0 / 128);
	g_assert_cmpfloat(walk_by_hand(-40, 4, 200, 0).used, ==, 4.0 / 40);
	g_assert_cmpfloat(walk_by_hand(16, 4, 200, 8).used, ==, 0.5);
	g_assert_cmpfloat(walk_by_hand(12, 4, 200, 0).used, ==, 0);
}

static void test_columns(void)
{
	LodeLoopStride it = stride_by_hand(4096, 4, 200);

	g_assert_true(it.is_known);
	g_assert_cmpint(it.stride, ==, 4096);
	g_assert_cmpfloat(it.rounds, ==, 200);
	g_assert_true(it.comes_back);
	g_assert_false(it.is_exact);
	g_assert_true(stride_by_hand(-4096, -63, 200).comes_back);
	g_assert_false(stride_by_hand(4096, 64, 200).comes_back);
	/* nothing is asked of turns where lines follow each other */
	it = stride_by_hand(8, 4, 200);
	g_assert_cmpint(it.stride, ==, 8);
	g_assert_false(it.comes_back);
	/* a register that goes nowhere is not known to */
	g_assert_false(stride_by_hand(0, 4, 200).is_known);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/loop-strides/random", test_random);
	g_test_add_func("/ingest/loop-strides/columns", test_columns);
	g_test_add_func("/ingest/loop-strides/used", test_used);
	return g_test_run();
}
