/* SPDX-License-Identifier: MIT */
#include "images/data/access_path.h"

#include "images/instructions/instruction_effect.h"
#include "images/registers/backward_undoing.h"
#include "images/registers/memory_emulation.h"

/* The flags by which conditions and results are compared. */
#define COMPARED_FLAGS                                                                             \
	((uint64_t)(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |    \
		    ZYDIS_CPUFLAG_OF))

static bool add_step(LodeAccessPath *self, uint64_t address, uint32_t number, uint64_t next)
{
	LodeAccessSearch *search = self->walk->search;
	LodePathStep *step = &self->steps[self->n];

	if (!lode_access_search_decode(search, address))
		return false;
	step->full = search->full;
	step->number = number;
	step->next = next;
	self->before[self->n] = self->n > 0 ? self->before[self->n - 1] : self->after;
	lode_backward_undo(&step->full, &self->before[self->n]);
	self->n++;
	return true;
}

bool lode_access_path_begin(LodeAccessPath *self, LodeAccessWalk *walk,
	const LodeRegisterState *sampled, uint64_t address, uint32_t number)
{
	self->walk = walk;
	self->after = *sampled;
	self->n = 0;
	self->has_ended = number == UINT32_MAX;
	return add_step(self, address, number, walk->search->question->pc);
}

/* One that control came from: not decoded otherwise than the function was, and of known effect. */
static bool add_before(LodeAccessPath *self, uint32_t before)
{
	const LodeStaticInstruction *found = lode_access_walk_at(self->walk, before);
	const LodeFullInstruction *full = &self->steps[self->n].full;
	uint64_t next = self->steps[self->n - 1].full.address;

	if (!add_step(self, found->address, before, next))
		return false;
	if (full->instruction.length == found->decoded.length &&
		!lode_access_is_opaque(full, &found->decoded))
		return true;
	self->n--;
	return false;
}

void lode_access_path_extend(LodeAccessPath *self, unsigned n)
{
	while (!self->has_ended && self->n < MIN(n, LODE_ACCESS_SEARCH_STEPS)) {
		uint32_t before = lode_access_walk_before(
			self->walk, self->steps[self->n - 1].number);

		self->has_ended = before == UINT32_MAX || !add_before(self, before);
	}
}

/* --- memory --- */

static void init_memory(const LodeAccessPath *self, LodeStackMemory *memory)
{
	const LodeDataAccessQuestion *question = self->walk->search->question;
	uint64_t start = 0;
	bool is_known = lode_register_state_read(&self->after, ZYDIS_REGISTER_RSP, &start);

	lode_stack_memory_init(
		memory, is_known ? question->stack : NULL, question->stack_size, start);
	memory->constants = self->walk->search->stack.constants;
	memory->n_constants = self->walk->search->stack.n_constants;
	for (unsigned i = 0; i < self->n; i++) {
		if (!lode_memory_is_written(&self->steps[i].full))
			continue;
		LodeStackWrite write = lode_memory_write_of(&self->steps[i].full, &self->before[i]);
		lode_stack_memory_expect(memory, &write);
	}
	memory->is_past = true;
}

/* --- doing it again --- */

/* False: a jump went elsewhere. */
static bool do_again(const LodePathStep *step, LodeRegisterState *state, LodeStackMemory *memory)
{
	bool is_writing = lode_memory_is_written(&step->full);
	unsigned n_expected = memory->n_expected - (is_writing ? 1 : 0);
	uint64_t next;
	LodeStep went = lode_memory_emulate(&step->full, state, memory, &next);

	if (is_writing && memory->n_expected != n_expected)
		lode_stack_memory_forget(memory);
	memory->n_expected = n_expected;
	return (went != LODE_STEP_ON && went != LODE_STEP_COMPUTED) || next == step->next;
}

/* A result whose input was in memory still gives zero, sign and parity. False: the flags are not
 * those of this result. */
static bool has_flags_of_result(const LodeFullInstruction *full, const LodeRegisterState *after)
{
	uint64_t value, flags = 0;
	unsigned bits = full->operands[0].size;

	switch (lode_instruction_operation(&full->instruction)) {
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_ADD_CARRY:
	case LODE_OPERATION_AND:
	case LODE_OPERATION_NEGATE:
	case LODE_OPERATION_OR:
	case LODE_OPERATION_SUBTRACT:
	case LODE_OPERATION_SUBTRACT_BORROW:
	case LODE_OPERATION_XOR:
		break;
	default:
		return true;
	}
	if (lode_operand_register(&full->operands[0]) < 0 ||
		!lode_register_state_read(after, full->operands[0].reg.value, &value))
		return true;
	flags |= value == 0 ? ZYDIS_CPUFLAG_ZF : 0;
	flags |= value >> (bits - 1) & 1 ? ZYDIS_CPUFLAG_SF : 0;
	flags |= __builtin_parityll(value & 0xff) ? 0 : ZYDIS_CPUFLAG_PF;
	return ((flags ^ after->flags) & after->known_flags &
		       (ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF)) == 0;
}

/* Adds what another state of the same moment knows. False: they contradict each other. */
static bool merge(LodeRegisterState *state, const LodeRegisterState *other)
{
	uint32_t both = state->known & other->known;
	uint64_t both_flags = state->known_flags & other->known_flags & COMPARED_FLAGS;

	if ((state->flags ^ other->flags) & both_flags)
		return false;
	for (unsigned i = 0; i < LODE_N_GENERAL_REGISTERS; i++) {
		if ((both >> i & 1) && state->values[i] != other->values[i])
			return false;
		if (other->known >> i & 1)
			state->values[i] = other->values[i];
	}
	state->known |= other->known;
	state->flags = (state->flags & ~other->known_flags) | (other->flags & other->known_flags);
	state->known_flags |= other->known_flags;
	return true;
}

bool lode_access_path_recompute(LodeAccessPath *self)
{
	LodeStackMemory memory;
	LodeRegisterState state = self->before[self->n - 1];

	init_memory(self, &memory);
	for (unsigned i = self->n; i-- > 0;) {
		const LodeRegisterState *after = i > 0 ? &self->before[i - 1] : &self->after;

		self->recomputed[i] = state;
		if (!do_again(&self->steps[i], &state, &memory) || !merge(&state, after) ||
			!has_flags_of_result(&self->steps[i].full, &state))
			return false;
	}
	return true;
}
