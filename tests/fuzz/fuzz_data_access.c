/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as code with any registers: each rule says either where an access goes or why not, and
 * names only instructions of the code and addresses that are valid.
 *
 *   size     what
 *   1        1: backward first, 2: no targets, 4: tables are taken as read, 8: no fs base, 16: a
 *            stack, of addresses in the code and words of it
 *   4        which registers are known
 *   17 × 8   registers
 *   …        code
 */
#include "fuzz_target.h"
#include "images/data/data_access.h"

#include <string.h>

enum {
	HEAD = 1 + 4 + 8 * LODE_N_REGISTERS,
	MAX_CODE = 2048,
	STACK_WORDS = 16,
	CODE = 0x10000,
	BIAS = 0x550000
};

typedef struct {
	const uint8_t *code;
	size_t n;
} Code;

static const uint8_t *bytes_at(void *data, uint64_t address, size_t *out_n)
{
	const Code *code = data;

	if (address - CODE >= code->n)
		return NULL;
	*out_n = code->n - (size_t)(address - CODE);
	return code->code + (address - CODE);
}

static bool is_valid(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	(void)data;
	if (size == 0 || access == 0 || access > (LODE_ACCESS_LOAD | LODE_ACCESS_STORE))
		g_error("an access of nothing");
	return address + size <= UINT64_C(1) << 47;
}

static void check(const Code *code, const LodeDataAccess *access)
{
	if ((access->rule == LODE_RULE_NONE) == (access->reason == LODE_REASON_NONE) ||
		(access->rule == LODE_RULE_NONE) != (access->n_operands == 0))
		g_error("neither a rule nor a reason, or both");
	if (access->n_operands > LODE_MAX_DATA_OPERANDS)
		g_error("too many operands");
	if (access->n_operands > 0 && access->pc - CODE >= code->n)
		g_error("an instruction outside the code");
	for (unsigned i = 0; i < access->n_operands; i++) {
		const LodeDataOperand *operand = &access->operands[i];

		if (!is_valid(NULL, operand->address, operand->size, operand->access))
			g_error("an address that is not valid");
	}
}

static void ask(const LodeDataAccessContext *context, LodeDataAccessQuestion *question)
{
	LodeDataAccess access;

	for (LodeAddressRule rule = LODE_RULE_NONE; rule < LODE_N_RULES; rule++) {
		lode_data_access_apply(context, question, rule, &access);
		check(context->data, &access);
		if (access.rule != LODE_RULE_NONE && access.rule != rule)
			g_error("another rule's answer");
	}
	lode_data_access_find(context, question, &access);
	check(context->data, &access);
}

static void read_registers(LodeUserRegisters *registers, const uint8_t *data)
{
	memset(registers, 0, sizeof *registers);
	memcpy(&registers->known, data + 1, sizeof registers->known);
	memcpy(registers->values, data + 5, sizeof registers->values);
	registers->has_fs_base = !(data[0] & 8);
	registers->fs_base = registers->values[0] ^ registers->values[1];
}

static void make_stack(uint64_t words[STACK_WORDS], const Code *code)
{
	memset(words, 0, STACK_WORDS * sizeof *words);
	memcpy(words, code->code, MIN(code->n, STACK_WORDS * sizeof *words));
	for (unsigned i = 0; i < STACK_WORDS; i += 2)
		words[i] = CODE + BIAS + words[i] % code->n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LodeUserRegisters registers;
	uint64_t stack[STACK_WORDS];
	Code code = {data + HEAD, MIN(size - HEAD, MAX_CODE)};
	LodeDataAccessContext context = {bytes_at, is_valid, &code};
	LodeDataAccessQuestion question = {.bias = BIAS, .registers = &registers};
	g_auto(LodeControlFlow) flow = {0};
	g_auto(LodeBranchTargets) targets = {0};

	if (size <= HEAD)
		return 0;
	read_registers(&registers, data);
	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, code.code, code.n, CODE, NULL);
	lode_branch_targets_init(&targets);
	lode_branch_targets_add(&targets, code.code, code.n, CODE);
	lode_branch_targets_sort(&targets);
	targets.has_tables = data[0] & 4;
	make_stack(stack, &code);
	question.stack = data[0] & 16 ? (const uint8_t *)stack : NULL;
	question.stack_size = sizeof stack;
	question.flow = &flow;
	question.targets = data[0] & 2 ? NULL : &targets;
	question.is_trigger_before = data[0] & 1;
	for (uint64_t i = 0; i <= code.n; i++) {
		question.pc = CODE + i;
		ask(&context, &question);
	}
	return 0;
}
