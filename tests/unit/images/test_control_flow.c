/* SPDX-License-Identifier: MIT */
#include "images/code/control_flow.h"
#include "seeds.h"

#include <string.h>

static LodeStaticInstruction *instruction_at(const LodeControlFlow *flow, uint64_t address)
{
	uint32_t i = lode_control_flow_find(flow, address);

	g_assert_cmpuint(i, !=, UINT32_MAX);
	return &g_array_index(flow->instructions, LodeStaticInstruction, i);
}

static LodeStaticBlock *block_at(const LodeControlFlow *flow, uint64_t address)
{
	return &g_array_index(flow->blocks, LodeStaticBlock, instruction_at(flow, address)->block);
}

static uint64_t first_address(const LodeControlFlow *flow, uint32_t block)
{
	const LodeStaticBlock *it = &g_array_index(flow->blocks, LodeStaticBlock, block);

	return g_array_index(flow->instructions, LodeStaticInstruction, it->first).address;
}

static void test_loop(void)
{
	static const uint8_t CODE[] = {
		0x31, 0xc0,                   /* 1000 xor eax, eax */
		0x85, 0xff,                   /* 1002 test edi, edi */
		0x74, 0x0b,                   /* 1004 je 1011 */
		0x01, 0xf8,                   /* 1006 add eax, edi */
		0xe8, 0x00, 0x10, 0x00, 0x00, /* 1008 call 200d */
		0xff, 0xcf,                   /* 100d dec edi */
		0x75, 0xf5,                   /* 100f jne 1006 */
		0xc3,                         /* 1011 ret */
		0x0f, 0x1f, 0x00,             /* 1012 nop: never reached */
	};
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0x1000, NULL);
	g_assert_cmpuint(flow.instructions->len, ==, 9);
	g_assert_cmpuint(flow.blocks->len, ==, 4);
	g_assert_cmpuint(flow.undecoded_bytes, ==, 0);
	g_assert_cmphex(first_address(&flow, block_at(&flow, 0x1004)->successors[0]), ==, 0x1006);
	g_assert_cmphex(first_address(&flow, block_at(&flow, 0x1004)->successors[1]), ==, 0x1011);
	g_assert_cmphex(first_address(&flow, block_at(&flow, 0x100f)->successors[1]), ==, 0x1006);
	g_assert_true(block_at(&flow, 0x1006)->is_loop_head);
	g_assert_cmpuint(block_at(&flow, 0x1006)->loop_depth, ==, 1);
	g_assert_cmpuint(block_at(&flow, 0x1000)->loop_depth, ==, 0);
	g_assert_cmpuint(block_at(&flow, 0x1011)->loop_depth, ==, 0);
	g_assert_true(instruction_at(&flow, 0x100d)->is_return_point);
	g_assert_false(instruction_at(&flow, 0x100f)->is_return_point);
	g_assert_cmpuint(block_at(&flow, 0x1011)->successors[0], ==, UINT32_MAX);
	g_assert_true(block_at(&flow, 0x1011)->is_reachable);
	g_assert_false(block_at(&flow, 0x1012)->is_reachable);
	g_assert_cmpuint(lode_control_flow_find(&flow, 0x1001), ==, UINT32_MAX);
}

/* An indirect jump: only the hints tell where it goes, and that there is a loop. */
static void test_jump_table(void)
{
	static const uint8_t CODE[] = {
		0xff, 0xe0, /* 0 jmp rax */
		0x90,       /* 2 nop */
		0xeb, 0xfb, /* 3 jmp 0 */
		0x90,       /* 5 nop */
		0xc3,       /* 6 ret */
		0xeb, 0xfd, /* 7 jmp 6 */
	};
	static const LodeFlowHint HINTS[] = {{0, 2}, {0, 5}, {0, 5}, {0, 100}, {3, 0}};
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(
		&flow, CODE, sizeof CODE, 0, &(LodeSeenFlow){HINTS, G_N_ELEMENTS(HINTS), NULL, 0});
	g_assert_cmpuint(flow.hints->len, ==, 2); /* repeated, outside and known ones are not */
	g_assert_cmpuint(g_array_index(flow.hints, LodeFlowHint, 0).target, ==, 2);
	g_assert_cmpuint(g_array_index(flow.hints, LodeFlowHint, 1).target, ==, 5);
	g_assert_true(block_at(&flow, 0)->is_loop_head);
	g_assert_cmpuint(block_at(&flow, 2)->loop_depth, ==, 1);
	g_assert_cmpuint(block_at(&flow, 5)->loop_depth, ==, 0);
	g_assert_true(block_at(&flow, 5)->is_reachable);
	g_assert_false(block_at(&flow, 7)->is_reachable);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, NULL);
	g_assert_cmpuint(flow.hints->len, ==, 0);
	g_assert_false(block_at(&flow, 5)->is_reachable);
	g_assert_true(block_at(&flow, 0)->is_reachable);
}

/* What no known way leads to, up to a place that is aligned; not what a branch goes to, and not
 * endbr64, which an indirect jump goes to. */
static void test_padding(void)
{
	static const uint8_t CODE[] = {
		0xff, 0xe0,                         /* 0 jmp rax */
		0x0f, 0x1f, 0x44, 0x00, 0x00,       /* 2 nop */
		0x90,                               /* 7 nop */
		0x31, 0xc0,                         /* 8 xor eax, eax */
		0xeb, 0x01,                         /* a jmp d */
		0x90,                               /* c nop: not aligned after it */
		0x31, 0xc0,                         /* d xor eax, eax */
		0xc3,                               /* f ret */
		0xeb, 0x00,                         /* 10 jmp 12 */
		0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, /* 12 nop: a target */
		0xc3,                               /* 18 ret */
		0x0f, 0x1f, 0x00,                   /* 19 nop */
		0xf3, 0x0f, 0x1e, 0xfa,             /* 1c endbr64 */
		0xc3,                               /* 20 ret */
	};
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, NULL);
	g_assert_true(block_at(&flow, 2)->is_padding);
	g_assert_cmphex(first_address(&flow, instruction_at(&flow, 7)->block), ==, 2);
	g_assert_cmphex(first_address(&flow, instruction_at(&flow, 8)->block), ==, 8);
	g_assert_cmphex(first_address(&flow, block_at(&flow, 2)->successors[0]), ==, 8);
	for (guint i = 0; i < flow.blocks->len; i++)
		g_assert_cmpint(g_array_index(flow.blocks, LodeStaticBlock, i).is_padding, ==,
			first_address(&flow, i) == 2);
}

/* Data whose decoding would swallow the instruction that is known to follow it. */
static void test_data_in_code(void)
{
	static const uint8_t CODE[] = {
		0xff,
		0xe0, /* 0 jmp rax */
		0x48,
		0xb8,
		0x01, /* 2 data: the beginning of a ten-byte mov */
		0x89,
		0xf8, /* 5 mov eax, edi */
		0xc3, /* 7 ret */
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
	};
	static const LodeFlowHint HINT = {0, 5};
	static const uint64_t LEADER = 5;
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, NULL);
	g_assert_cmpuint(lode_control_flow_find(&flow, 5), ==, UINT32_MAX);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, &(LodeSeenFlow){&HINT, 1, NULL, 0});
	g_assert_cmpuint(flow.undecoded_bytes, ==, 3);
	g_assert_true(block_at(&flow, 5)->is_reachable);
	g_assert_cmpuint(lode_control_flow_find(&flow, 2), ==, UINT32_MAX);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, &(LodeSeenFlow){NULL, 0, &LEADER, 1});
	g_assert_cmpuint(instruction_at(&flow, 7)->decoded.branch, ==, LODE_BRANCH_RETURN);
}

/* glibc's way to leave out a lock: a jump over the prefix. Both instructions are there. */
static void test_skipped_prefix(void)
{
	static const uint8_t CODE[] = {
		0x74, 0x01,             /* 0 je 3 */
		0xf0, 0x0f, 0xb1, 0x17, /* 2 lock cmpxchg [rdi], edx */
		0x75, 0xf8,             /* 6 jne 0 */
		0xc3,                   /* 8 ret */
	};
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 0, NULL);
	g_assert_cmpuint(flow.instructions->len, ==, 5);
	g_assert_cmpuint(flow.undecoded_bytes, ==, 0);
	g_assert_cmpuint(instruction_at(&flow, 2)->decoded.length, ==, 4);
	g_assert_cmpuint(instruction_at(&flow, 3)->decoded.length, ==, 3);
	g_assert_cmpuint(first_address(&flow, block_at(&flow, 0)->successors[0]), ==, 2);
	g_assert_cmpuint(first_address(&flow, block_at(&flow, 0)->successors[1]), ==, 3);
	g_assert_cmpuint(first_address(&flow, block_at(&flow, 2)->successors[0]), ==, 6);
	g_assert_cmpuint(first_address(&flow, block_at(&flow, 3)->successors[0]), ==, 6);
	g_assert_cmpuint(block_at(&flow, 6)->loop_depth, ==, 1);
}

static void test_cut_short(void)
{
	static const uint8_t CODE[] = {0x06, 0x90, 0x0f};
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, CODE, sizeof CODE, 64, NULL);
	g_assert_cmpuint(flow.undecoded_bytes, ==, 2);
	g_assert_cmpuint(flow.instructions->len, ==, 1);
	lode_control_flow_build(&flow, CODE, 1, 64, NULL);
	g_assert_cmpuint(flow.instructions->len, ==, 0);
	g_assert_cmpuint(flow.blocks->len, ==, 0);
	lode_control_flow_build(&flow, CODE, 0, 64, NULL);
	g_assert_cmpuint(flow.undecoded_bytes, ==, 0);
}

static void check_blocks(const LodeControlFlow *flow)
{
	uint32_t next = 0;

	for (guint i = 0; i < flow->blocks->len; i++) {
		const LodeStaticBlock *block = &g_array_index(flow->blocks, LodeStaticBlock, i);

		g_assert_cmpuint(block->first, ==, next);
		g_assert_cmpuint(block->n, >, 0);
		next += block->n;
		for (uint32_t k = block->first; k < next; k++) {
			const LodeStaticInstruction *it = &g_array_index(
				flow->instructions, LodeStaticInstruction, k);

			g_assert_cmpuint(it->block, ==, i);
			g_assert_cmpuint(lode_control_flow_find(flow, it->address), ==, k);
			if (k + 1 == next)
				continue;
			/* inside a block control only falls through */
			g_assert_cmphex(it[1].address, ==, it->address + it->decoded.length);
			g_assert_true(it->decoded.branch == LODE_BRANCH_NONE ||
				      it->decoded.branch == LODE_BRANCH_CALL ||
				      it->decoded.branch == LODE_BRANCH_INDIRECT_CALL);
		}
	}
	g_assert_cmpuint(next, ==, flow->instructions->len);
}

/* Each direct jump inside the function is an edge to the block that begins at its target. */
static void check_edges(const LodeControlFlow *flow)
{
	for (guint i = 0; i < flow->blocks->len; i++) {
		const LodeStaticBlock *block = &g_array_index(flow->blocks, LodeStaticBlock, i);
		const LodeStaticInstruction *last = &g_array_index(
			flow->instructions, LodeStaticInstruction, block->first + block->n - 1);
		bool is_jump = last->decoded.has_target &&
		               !(last->decoded.kinds & (1U << LODE_KIND_CALL));

		if (is_jump && lode_control_flow_find(flow, last->decoded.target) != UINT32_MAX)
			g_assert_cmphex(first_address(flow, block->successors[1]), ==,
				last->decoded.target);
		else
			g_assert_cmpuint(block->successors[1], ==, UINT32_MAX);
		if (block->successors[0] != UINT32_MAX)
			g_assert_cmphex(first_address(flow, block->successors[0]), ==,
				last->address + last->decoded.length);
	}
}

static void check_hints(const LodeControlFlow *flow)
{
	for (guint i = 0; i < flow->hints->len; i++) {
		LodeFlowHint hint = g_array_index(flow->hints, LodeFlowHint, i);
		uint32_t source = lode_control_flow_find(flow, hint.source);
		const LodeStaticBlock *block = block_at(flow, hint.source);

		g_assert_cmpuint(source, ==, block->first + block->n - 1);
		g_assert_cmphex(first_address(flow, instruction_at(flow, hint.target)->block), ==,
			hint.target);
	}
}

static int compare_hints(const void *a, const void *b)
{
	const LodeFlowHint *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

static void test_random(void)
{
	/* short jumps, calls, plain instructions and nonsense, so that much of it decodes */
	static const uint8_t LIKELY[] = {
		0x90, 0x74, 0xeb, 0xe8, 0xc3, 0xff, 0xf0, 0x0f, 0x48, 0x01};
	g_auto(LodeControlFlow) flow = {0};
	unsigned n_loops = 0, n_hints = 0;

	lode_control_flow_init(&flow);
	for (int round = 0; round < 5000; round++) {
		uint8_t code[96];
		LodeFlowHint hints[4];
		uint64_t leaders[3] = {0x2000, 0x2000, 0x2000};
		size_t size = (size_t)random_int_range(1, sizeof code + 1);

		for (size_t i = 0; i < size; i++)
			code[i] = random_int_range(0, 2)
			                  ? LIKELY[random_int_range(0, sizeof LIKELY)]
			                  : (uint8_t)random_int_range(-20, 20);
		for (size_t i = 0; i < G_N_ELEMENTS(hints); i++)
			hints[i] = (LodeFlowHint){
				0x2000 + (uint64_t)random_int_range(0, sizeof code),
				0x2000 + (uint64_t)random_int_range(0, sizeof code)};
		qsort(hints, G_N_ELEMENTS(hints), sizeof *hints, compare_hints);
		leaders[1] += (uint64_t)random_int_range(0, 40);
		leaders[2] = leaders[1] + (uint64_t)random_int_range(0, 40);
		lode_control_flow_build(&flow, code, size, 0x2000,
			&(LodeSeenFlow){
				hints, G_N_ELEMENTS(hints), leaders, G_N_ELEMENTS(leaders)});
		check_blocks(&flow);
		check_edges(&flow);
		check_hints(&flow);
		n_hints += flow.hints->len;
		for (guint i = 0; i < flow.blocks->len; i++)
			n_loops += g_array_index(flow.blocks, LodeStaticBlock, i).is_loop_head;
	}
	g_assert_cmpuint(n_loops, >, 200);
	g_assert_cmpuint(n_hints, >, 1000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/control_flow/loop", test_loop);
	g_test_add_func("/images/control_flow/jump_table", test_jump_table);
	g_test_add_func("/images/control_flow/padding", test_padding);
	g_test_add_func("/images/control_flow/data_in_code", test_data_in_code);
	g_test_add_func("/images/control_flow/skipped_prefix", test_skipped_prefix);
	g_test_add_func("/images/control_flow/cut_short", test_cut_short);
	add_random_test("/images/control_flow/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	return g_test_run();
}
