/* SPDX-License-Identifier: MIT */
/* Calls in loops, out of code that is written out here, and which of them get the same arguments in
 * each iteration; and random loops, whose calls are executed with random numbers in registers that
 * the loop does not change: what is said to be the same is. */
#include "ingest/join/attributes/call_arguments.h"

#include "seeds.h"

#include <string.h>

enum { MAX_NODES = 12, ADDRESS = 0x1000 };

typedef struct {
	uint8_t length, bytes[12];
	bool is_load, is_stack;
} Code;

/* --- known loops --- */

#define CALL                                                                                       \
	{                                                                                          \
		5, {0xe8, 0, 0, 0, 0}, false, false                                                \
	}
#define MOV_RDI_RBP                                                                                \
	{                                                                                          \
		3, {0x48, 0x89, 0xef}, false, false                                                \
	}
#define MOV_RSI_RAX                                                                                \
	{                                                                                          \
		3, {0x48, 0x89, 0xc6}, false, false                                                \
	}
#define MOV_RDX_RAX                                                                                \
	{                                                                                          \
		3, {0x48, 0x89, 0xc2}, false, false                                                \
	}
#define MOV_RDI_RBX                                                                                \
	{                                                                                          \
		3, {0x48, 0x89, 0xdf}, false, false                                                \
	}
#define INC_RBP                                                                                    \
	{                                                                                          \
		3, {0x48, 0xff, 0xc5}, false, false                                                \
	}
#define XOR_ESI                                                                                    \
	{                                                                                          \
		2, {0x31, 0xf6}, false, false                                                      \
	}
#define LEA_RDI_RBX_8                                                                              \
	{                                                                                          \
		4, {0x48, 0x8d, 0x7b, 0x08}, false, false                                          \
	}
#define LEA_RDI_STACK                                                                              \
	{                                                                                          \
		5, {0x48, 0x8d, 0x7c, 0x24, 0x10}, false, false                                    \
	}
#define LEA_RSI_STACK                                                                              \
	{                                                                                          \
		5, {0x48, 0x8d, 0x74, 0x24, 0x10}, false, false                                    \
	}
#define MOV_RBP_RSP                                                                                \
	{                                                                                          \
		3, {0x48, 0x89, 0xe5}, false, false                                                \
	}
#define LOAD_SLOT                                                                                  \
	{                                                                                          \
		5, {0x48, 0x8b, 0x7c, 0x24, 0x10}, true, true                                      \
	}
#define STORE_SLOT                                                                                 \
	{                                                                                          \
		5, {0x48, 0x89, 0x44, 0x24, 0x10}, false, true                                     \
	}
#define STORE_OTHER                                                                                \
	{                                                                                          \
		5, {0x48, 0x89, 0x44, 0x24, 0x18}, false, true                                     \
	}
#define LOAD_HEAP                                                                                  \
	{                                                                                          \
		3, {0x48, 0x8b, 0x3b}, true, false                                                 \
	}
#define POP_RDI                                                                                    \
	{                                                                                          \
		1, {0x5f}, false, false                                                            \
	}
#define JNZ                                                                                        \
	{                                                                                          \
		2, {0x75, 0x00}, false, false                                                      \
	}
#define CALL_RBX                                                                                   \
	{                                                                                          \
		2, {0xff, 0xd3}, false, false                                                      \
	}
#define CALL_RAX                                                                                   \
	{                                                                                          \
		2, {0xff, 0xd0}, false, false                                                      \
	}
#define LOAD_LOW                                                                                   \
	{                                                                                          \
		4, {0x48, 0x8b, 0x3c, 0x24}, true, true                                            \
	} /* mov rdi, [rsp] */
#define CVT_1                                                                                      \
	{                                                                                          \
		5, {0xf2, 0x48, 0x0f, 0x2a, 0xcd}, false, false                                    \
	} /* cvtsi2sd xmm1, rbp */
#define MUL_0_1                                                                                    \
	{                                                                                          \
		4, {0xf2, 0x0f, 0x59, 0xc1}, false, false                                          \
	} /* mulsd xmm0, xmm1 */
#define ZERO_0                                                                                     \
	{                                                                                          \
		3, {0x0f, 0x57, 0xc0}, false, false                                                \
	} /* xorps xmm0, xmm0 */
#define CVT                                                                                        \
	{                                                                                          \
		5, {0xf2, 0x48, 0x0f, 0x2a, 0xc5}, false, false                                    \
	} /* cvtsi2sd xmm0, rbp */

static const struct {
	const char *name;
	Code code[6]; /* a loop: each leads to the next, the last to the first */
	bool is_same; /* of the last call */
} cases[] = {
	{"copy of a register", {MOV_RDI_RBP, CALL, JNZ}, true},
	{"the register changes", {MOV_RDI_RBP, CALL, INC_RBP, JNZ}, false},
	{"also before", {INC_RBP, MOV_RDI_RBP, CALL, JNZ}, false},
	{"the result", {MOV_RDI_RBP, CALL, MOV_RSI_RAX, CALL}, false},
	{"only of the second", {CALL, MOV_RDI_RBP, CALL, JNZ}, true},
	{"a constant", {XOR_ESI, MOV_RDI_RBP, CALL, JNZ}, true},
	{"an address", {LEA_RDI_RBX_8, CALL, JNZ}, true},
	{"an address on the stack", {LEA_RDI_STACK, CALL, JNZ}, true},
	{"a slot of the stack", {LOAD_SLOT, CALL, JNZ}, true},
	{"a slot that is stored", {LOAD_SLOT, CALL, STORE_SLOT, JNZ}, false},
	{"another slot that is stored", {LOAD_SLOT, CALL, STORE_OTHER, JNZ}, true},
	{"a slot whose address is passed", {LEA_RSI_STACK, CALL, LOAD_SLOT, CALL}, false},
	{"a slot below what is passed", {LEA_RSI_STACK, LOAD_LOW, CALL, JNZ}, true},
	{"a value of the iteration before", {MOV_RDI_RBX, ZERO_0, CALL, INC_RBP, CVT_1, MUL_0_1},
		true},
	{"a value of the iteration", {CVT_1, MUL_0_1, ZERO_0, CALL, INC_RBP, JNZ}, false},
	{"a slot beside a frame pointer", {MOV_RBP_RSP, LOAD_SLOT, CALL, JNZ}, true},
	{"a load from elsewhere", {LOAD_HEAP, CALL, JNZ}, false},
	{"popped", {POP_RDI, CALL, JNZ}, false},
	{"no arguments", {CALL, JNZ}, false},
	{"only the second", {XOR_ESI, CALL, JNZ}, false},
	{"not the third without the second", {MOV_RDI_RBP, MOV_RDX_RAX, CALL, JNZ}, true},
	{"the third with the second", {MOV_RDI_RBP, XOR_ESI, MOV_RDX_RAX, CALL, JNZ}, false},
	{"the result, around the loop", {MOV_RDI_RBP, CALL, MOV_RSI_RAX, JNZ}, false},
	{"set after the call", {CALL, MOV_RDI_RBP, JNZ}, true},
	{"through a pointer", {MOV_RDI_RBP, CALL_RBX, JNZ}, true},
	{"through a changing pointer", {MOV_RDI_RBP, CALL_RAX, JNZ}, false},
	{"a number that changes", {INC_RBP, CVT, CALL, JNZ}, false},
};

typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	LodeDependenceWay ways[2 * MAX_NODES];
	uint32_t firsts[MAX_NODES + 1], n, n_ways;
	LodeRegisterMask changes;
} Loop;

static void add_code(Loop *loop, const Code *code)
{
	LodeDependenceNode *node = &loop->nodes[loop->n++];

	*node = (LodeDependenceNode){.loop_depth = 1, .is_loop_head = loop->n == 1};
	node->is_known = lode_register_use_decode(&node->use, code->bytes, code->length, ADDRESS);
	g_assert_true(node->is_known);
	node->is_call = code->bytes[0] == 0xe8 || code->bytes[0] == 0xff;
	node->is_call &= code->length != 3;
	if (code->is_load)
		node->makes = 1u << LODE_NEED_LOAD;
	if (code->is_load && code->is_stack)
		node->makes |= 1u << LODE_NEED_LOAD_STACK;
	loop->changes |= node->use.changes;
}

static bool ask(Loop *loop, uint32_t call)
{
	g_auto(LodeNaturalLoop) natural;

	loop->n_ways = 0;
	for (uint32_t i = 0; i < loop->n; i++) {
		loop->firsts[i] = loop->n_ways;
		loop->ways[loop->n_ways++] = (LodeDependenceWay){
			(i + loop->n - 1) % loop->n, i == 0 ? 0.9 : 1};
	}
	loop->firsts[loop->n] = loop->n_ways;
	const LodeDependenceGraph graph = {
		.nodes = loop->nodes, .n = loop->n, .first_ways = loop->firsts, .ways = loop->ways};
	lode_natural_loop_init(&natural);
	lode_natural_loop_begin(&natural, &graph);
	g_assert_true(lode_natural_loop_find(&natural, 0));
	const LodeAddressedFrame addressed = lode_call_arguments_addressed(&graph);
	return lode_call_arguments_are_unchanged(&natural, loop->changes, &addressed, call);
}

static void test_known(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Loop loop = {0};
		uint32_t call = 0;
		for (uint32_t k = 0; k < G_N_ELEMENTS(cases[i].code) && cases[i].code[k].length > 0;
			k++) {
			add_code(&loop, &cases[i].code[k]);
			if (loop.nodes[k].is_call)
				call = k;
		}
		g_test_message("%s", cases[i].name);
		g_assert_cmpint(ask(&loop, call), ==, cases[i].is_same);
	}
}

/* --- random loops, executed --- */

enum { N_REGISTERS = 4, N_ROUNDS = 6 };
static const uint8_t registers[N_REGISTERS] = {3, 5, 7, 6}; /* rbx, rbp, rdi, rsi */

/* mov to, from; lea to, [from + to] as an addition; inc to; xor to, to */
typedef enum { MOVE, ADD, INCREASE, ZERO, A_CALL, N_OPERATIONS } Operation;

typedef struct {
	Operation operation;
	unsigned to, from;
} Step;

static void add_step(Loop *loop, const Step *step)
{
	uint8_t to = registers[step->to], from = registers[step->from];
	Code code = {3, {0x48}, false, false};

	switch (step->operation) {
	case MOVE:
		code.bytes[1] = 0x89;
		code.bytes[2] = (uint8_t)(0xc0 | from << 3 | to);
		break;
	case ADD:
		code.bytes[1] = 0x01;
		code.bytes[2] = (uint8_t)(0xc0 | from << 3 | to);
		break;
	case INCREASE:
		code.bytes[1] = 0xff;
		code.bytes[2] = (uint8_t)(0xc0 | to);
		break;
	case ZERO:
		code.bytes[1] = 0x31;
		code.bytes[2] = (uint8_t)(0xc0 | to << 3 | to);
		break;
	default:
		code = (Code)CALL;
	}
	add_code(loop, &code);
}

/* Whether the call gets the same in all rounds but the first. */
static bool is_same_in_each(const Step *steps, uint32_t n, uint32_t call, unsigned written)
{
	uint64_t values[N_REGISTERS] = {1000, 2000, 3000, 4000}, seen[2] = {0};
	uint64_t noise = 77;

	for (unsigned round = 0; round < N_ROUNDS; round++)
		for (uint32_t i = 0; i < n; i++) {
			const Step *step = &steps[i];
			uint64_t *to = &values[step->to];
			if (i == call && round > 1)
				for (unsigned k = 0; k < 2; k++)
					if ((written >> k & 1) != 0 && values[2 + k] != seen[k])
						return false;
			if (i == call)
				memcpy(seen, values + 2, sizeof(seen));
			switch (step->operation) {
			case MOVE:
				*to = values[step->from];
				break;
			case ADD:
				*to += values[step->from];
				break;
			case INCREASE:
				++*to;
				break;
			case ZERO:
				*to = 0;
				break;
			default: /* it may change rdi and rsi */
				values[2] = noise = noise * 31 + 7;
				values[3] = noise = noise * 31 + 7;
			}
		}
	return true;
}

static void test_random(void)
{
	unsigned n_same = 0, n_found = 0;

	for (int round = 0; round < 20000; round++) {
		Step steps[MAX_NODES];
		Loop loop = {0};
		uint32_t n = (uint32_t)random_int_range(2, MAX_NODES), call = n;
		unsigned written = 0;
		for (uint32_t i = 0; i < n; i++) {
			steps[i] = (Step){
				(Operation)random_int_range(0, N_OPERATIONS),
				(unsigned)random_int_range(0, N_REGISTERS),
				(unsigned)random_int_range(0, N_REGISTERS),
			};
			add_step(&loop, &steps[i]);
			if (steps[i].operation == A_CALL)
				call = i;
		}
		if (call == n)
			continue;
		for (uint32_t i = (call + n - 1) % n; steps[i].operation != A_CALL;
			i = (i + n - 1) % n)
			written |= steps[i].to >= 2 ? 1u << (steps[i].to - 2) : 0;
		/* rsi is not an argument without rdi */
		written = (written & 1) != 0 ? written : 0;
		bool is_same = written != 0 && is_same_in_each(steps, n, call, written);
		bool is_found = ask(&loop, call);
		n_same += is_same;
		n_found += is_found;
		/* Values that are the same by arithmetic alone are not found. */
		g_assert_true(is_same || !is_found);
	}
	g_test_message("%u of %u found", n_found, n_same);
	g_assert_cmpuint(4 * n_found, >=, 3 * n_same);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/call_arguments/known", test_known);
	add_random_test("/call_arguments/random", test_random,
		"R02S3b7a90c1d2e4f5061728394a5b6c7d8e", "R02S90ab12cd34ef56781a2b3c4d5e6f7081",
		NULL);
	return g_test_run();
}
