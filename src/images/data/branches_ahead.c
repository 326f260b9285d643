/* SPDX-License-Identifier: MIT */
#include "images/data/branches_ahead.h"

#include "images/registers/forward_emulation.h"

enum { MAX_INSTRUCTIONS = 24 };

static bool is_conditional(const LodeFullInstruction *full)
{
	return full->instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
}

unsigned lode_branches_ahead(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeBranchAhead out_branches[LODE_BRANCHES_AHEAD])
{
	LodeFullInstruction full = {.bias = question->bias};
	uint64_t address = question->pc;
	LodeRegisterState state;
	LodeStackMemory stack;
	unsigned n = 0;

	lode_register_state_init(&state, question->registers);
	lode_stack_memory_init(&stack, question->stack, question->stack_size,
		question->registers->values[LODE_REGISTER_RSP]);
	for (unsigned i = 0; i < MAX_INSTRUCTIONS && n < LODE_BRANCHES_AHEAD; i++) {
		size_t size = 0;
		const uint8_t *code = context->bytes(context->data, address, &size);
		uint64_t source = address;
		if (code == NULL || !lode_full_instruction_decode(&full, code, size, address))
			break;
		LodeStep step = lode_forward_emulate(&full, &state, &stack, &address);
		if (step != LODE_STEP_ON && step != LODE_STEP_COMPUTED)
			break;
		/* The target of a jump by a register may lie in another image. */
		if (step == LODE_STEP_COMPUTED &&
			(context->bytes(context->data, address, &size) == NULL || size == 0))
			break;
		if (is_conditional(&full) || step == LODE_STEP_COMPUTED)
			out_branches[n++] = (LodeBranchAhead){source, address};
		if (address == question->pc)
			break;
	}
	return n;
}
