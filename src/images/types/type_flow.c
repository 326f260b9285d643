/* SPDX-License-Identifier: MIT */
/*
 * Blocks are visited in the order of their addresses, again while something changes. A value only
 * goes from known to less known, so that this ends; a broken function is given up after some
 * rounds.
 *
 * Where a jump's targets are unknown, what leads to a block may be too: a register that is used as
 * a pointer there is one on all ways to it, so that what the known ones agree in holds for all.
 */
#include "images/types/register_types.h"

#include "images/dwarf/function_variables.h"

#include <string.h>

enum {
	MAX_ROUNDS = 64,
	MAX_BLOCKS = 1 << 15,
	MAX_STEPS = 1 << 21, /* instructions, over all rounds */
	ENTRY_FRAME = 8,     /* bytes between the stack pointer and the frame address at an entry */
};

typedef struct {
	const LodeFunctionContext *context;
	const LodeControlFlow *flow;
	GArray *states;    /* LodeRegisterTypes at each block's beginning */
	uint8_t *is_known; /* of each block: something reached it */
	uint8_t *is_due;
	uint32_t n_steps;
} Flow;

static const LodeStaticBlock *block_at(const LodeControlFlow *flow, uint32_t i)
{
	return &g_array_index(flow->blocks, LodeStaticBlock, i);
}

static uint64_t address_of(const LodeControlFlow *flow, uint32_t instruction)
{
	return g_array_index(flow->instructions, LodeStaticInstruction, instruction).address;
}

/* Adds the types at a block's beginning that hold on every path: the frame, variables in registers.
 */
static void learn_at_block(
	const LodeFunctionContext *context, LodeRegisterTypes *state, uint64_t address)
{
	int64_t offset;
	int number;

	if (lode_frame_address(context->frames, address, &number, &offset) && offset != INT64_MIN)
		state->registers[number] = (LodeHeldValue){
			.kind = LODE_HELD_VALUE_FRAME, .offset = -offset};
	lode_register_types_learn(context, state, 0, address);
	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		if (state->registers[i].kind == LODE_HELD_VALUE_NONE &&
			state->registers[i].type == 0)
			state->registers[i].type = lode_unknown_of(address, i);
}

static void reach(Flow *flow, uint32_t block, const LodeRegisterTypes *state)
{
	LodeRegisterTypes *own = &g_array_index(flow->states, LodeRegisterTypes, block);

	if (!flow->is_known[block]) {
		*own = *state;
		flow->is_known[block] = 1;
		flow->is_due[block] = 1;
	} else if (lode_register_types_meet(flow->context, own, state)) {
		flow->is_due[block] = 1;
	}
}

static void reach_hinted(Flow *flow, uint64_t source, const LodeRegisterTypes *state)
{
	const GArray *hints = flow->flow->hints;

	for (guint i = 0; i < hints->len; i++) {
		const LodeFlowHint *hint = &g_array_index(hints, LodeFlowHint, i);
		uint32_t target;

		if (hint->source != source)
			continue;
		target = lode_control_flow_find(flow->flow, hint->target);
		if (target != UINT32_MAX)
			reach(flow,
				g_array_index(
					flow->flow->instructions, LodeStaticInstruction, target)
					.block,
				state);
	}
}

/* Carries a state over the instructions from a block's beginning to one of them. */
static void run_to(const LodeFunctionContext *context, const LodeControlFlow *flow, uint32_t first,
	uint32_t end, LodeRegisterTypes *state)
{
	uint64_t last = address_of(flow, first);

	learn_at_block(context, state, last);
	for (uint32_t i = first; i < end; i++) {
		uint64_t address = address_of(flow, i);
		LodeFullInstruction full;

		lode_register_types_learn(context, state, last + 1, address);
		last = address;
		if (lode_register_types_decode(&full, context->image, address))
			lode_register_types_step(context, state, &full);
	}
	if (end > first && end < flow->instructions->len)
		lode_register_types_learn(context, state, last + 1, address_of(flow, end));
}

static void run_block(Flow *flow, uint32_t index)
{
	const LodeStaticBlock *block = block_at(flow->flow, index);
	LodeRegisterTypes state = g_array_index(flow->states, LodeRegisterTypes, index);
	uint32_t end = block->first + block->n;
	uint64_t last = address_of(flow->flow, end - 1);

	flow->is_due[index] = 0;
	flow->n_steps += block->n;
	run_to(flow->context, flow->flow, block->first, end, &state);
	for (int i = 0; i < 2; i++)
		if (block->successors[i] != UINT32_MAX)
			reach(flow, block->successors[i], &state);
	if (flow->flow->hints->len > 0)
		reach_hinted(flow, last, &state);
}

/* Blocks that nothing known leads to begin with what the debug information says. */
static void begin(Flow *flow)
{
	LodeRegisterTypes entry = {0}, nothing = {0};
	guint n = flow->flow->blocks->len;
	g_autofree uint8_t *is_target = g_new0(uint8_t, n);

	entry.registers[LODE_REGISTER_RSP] = (LodeHeldValue){
		.kind = LODE_HELD_VALUE_FRAME, .offset = -ENTRY_FRAME};
	for (guint i = 0; i < n; i++)
		for (int k = 0; k < 2; k++)
			if (block_at(flow->flow, i)->successors[k] < n)
				is_target[block_at(flow->flow, i)->successors[k]] = 1;
	for (guint i = 0; i < n; i++)
		if (!is_target[i] && i > 0)
			reach(flow, i, &nothing);
	reach(flow, 0, &entry);
}

static bool run_round(Flow *flow)
{
	bool is_any = false;

	for (guint i = 0; i < flow->flow->blocks->len; i++) {
		if (!flow->is_due[i])
			continue;
		is_any = true;
		if (flow->n_steps > MAX_STEPS)
			return false;
		run_block(flow, i);
	}
	return is_any;
}

GArray *lode_register_types_flow(const LodeFunctionContext *context, const LodeControlFlow *flow)
{
	guint n = flow->blocks->len;
	Flow run = {.context = context, .flow = flow};
	bool is_done = false;

	if (n == 0 || n > MAX_BLOCKS)
		return NULL;
	run.states = g_array_new(FALSE, TRUE, sizeof(LodeRegisterTypes));
	g_array_set_size(run.states, n);
	run.is_known = g_new0(uint8_t, n);
	run.is_due = g_new0(uint8_t, n);
	begin(&run);
	for (int i = 0; i < MAX_ROUNDS && !is_done; i++)
		is_done = !run_round(&run);
	if (!is_done || run.n_steps > MAX_STEPS)
		g_clear_pointer(&run.states, g_array_unref);
	g_free(run.is_known);
	g_free(run.is_due);
	return run.states;
}

void lode_register_types_at(const LodeFunctionContext *context, const LodeControlFlow *flow,
	const GArray *states, uint64_t address, LodeRegisterTypes *out_state)
{
	uint32_t i = flow == NULL ? UINT32_MAX : lode_control_flow_find(flow, address);
	uint32_t block;

	memset(out_state, 0, sizeof *out_state);
	if (states == NULL || i == UINT32_MAX) {
		learn_at_block(context, out_state, address);
		return;
	}
	block = g_array_index(flow->instructions, LodeStaticInstruction, i).block;
	*out_state = g_array_index(states, LodeRegisterTypes, block);
	run_to(context, flow, block_at(flow, block)->first, i, out_state);
}

/* The pointed-to type of a variable whose register holds the result. */
static uint32_t pointed_by_variable(
	const LodeFunctionContext *context, const LodeRegisterTypes *state, uint64_t address)
{
	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++) {
		const GArray *places = context->variables->in_registers[i];

		if (state->registers[i].kind != LODE_HELD_VALUE_RETURNED)
			continue;
		for (guint k = 0; k < places->len; k++) {
			const LodeVariablePlace *place = &g_array_index(
				places, LodeVariablePlace, k);
			LodeHeldValue value;

			if (place->low > address)
				break;
			if (place->high <= address)
				continue;
			value = lode_held_value_of_variable(context->types, place);
			if (value.kind == LODE_HELD_VALUE_POINTER && value.offset == 0)
				return value.type;
		}
	}
	return LODE_NO_TYPE;
}

/* The pointed-to type of the place where the result is stored. */
static uint32_t pointed_by_store(const LodeFunctionContext *context, const LodeRegisterTypes *state,
	const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *operands = full->operands;
	LodeMemoryOperand memory;
	LodeHeldValue value;
	LodeDataPlace place;
	int source = full->instruction.mnemonic == ZYDIS_MNEMONIC_MOV
	                     ? lode_operand_register(&operands[1])
	                     : -1;

	if (source < 0 || operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		state->registers[source].kind != LODE_HELD_VALUE_RETURNED ||
		!lode_register_types_memory(full, 0, &memory) ||
		memory.shape.size != sizeof(uint64_t) ||
		!lode_data_place_find(context, full->address, state, &memory, &place))
		return LODE_NO_TYPE;
	value = lode_data_place_load(context, &place);
	return value.kind == LODE_HELD_VALUE_POINTER && value.offset == 0 ? value.type
	                                                                  : LODE_NO_TYPE;
}

uint32_t lode_register_types_returned(const LodeFunctionContext *context,
	const LodeControlFlow *flow, const GArray *states, uint64_t return_address)
{
	enum { MAX_FOLLOWED = 48 };
	uint64_t address = return_address;
	LodeRegisterTypes state;

	if (context->variables == NULL)
		return LODE_NO_TYPE;
	lode_register_types_at(context, flow, states, return_address, &state);
	state.registers[0] = (LodeHeldValue){.kind = LODE_HELD_VALUE_RETURNED};
	for (int i = 0; i < MAX_FOLLOWED; i++) {
		uint32_t type = pointed_by_variable(context, &state, address);
		LodeFullInstruction full;

		if (type != LODE_NO_TYPE ||
			!lode_register_types_decode(&full, context->image, address))
			return type;
		type = pointed_by_store(context, &state, &full);
		/* after a conditional jump the result is where it was, which way it goes; most are
		 * checks for null */
		if (type != LODE_NO_TYPE || full.instruction.mnemonic == ZYDIS_MNEMONIC_JMP ||
			full.instruction.mnemonic == ZYDIS_MNEMONIC_RET)
			return type;
		lode_register_types_step(context, &state, &full);
		address += full.instruction.length;
	}
	return LODE_NO_TYPE;
}
