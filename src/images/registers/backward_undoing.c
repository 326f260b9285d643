/* SPDX-License-Identifier: MIT */
/* Only writes of 64 bits can be undone: 32 bits clear the upper half, whatever was in it. */
#include "images/registers/backward_undoing.h"

#include "images/instructions/instruction_effect.h"

/* An instruction, with the registers after it; those before it become known. */
typedef struct {
	LodeInstructionEffect effect;
	const LodeRegisterState *after;
	LodeRegisterState *before;
} Undoing;

static bool is_wide_register(const Undoing *self, unsigned i)
{
	const LodeEffectOperand *operand = &self->effect.operands[i];

	return operand->kind == LODE_OPERAND_REGISTER && operand->bits == 64;
}

static bool read_register(const LodeRegisterState *state, int number, uint64_t *out_value)
{
	if (number < 0 || (state->known >> number & 1) == 0)
		return false;
	*out_value = state->values[number];
	return true;
}

static void write_register(const Undoing *self, int number, uint64_t value)
{
	if (number < 0)
		return;
	self->before->values[number] = value;
	self->before->known |= 1u << number;
}

/* Operand 1 as it was before and is after: a constant, or a register other than operand 0. */
static bool read_unchanged_source(const Undoing *self, uint64_t *out_value)
{
	const LodeEffectOperand *source = &self->effect.operands[1];

	if (source->kind == LODE_OPERAND_CONSTANT) {
		*out_value = (uint64_t)source->constant;
		return true;
	}
	return is_wide_register(self, 1) && source->number != self->effect.operands[0].number &&
	       read_register(self->after, source->number, out_value);
}

static uint64_t invert_update(LodeOperation operation, uint64_t after, uint64_t source)
{
	switch (operation) {
	case LODE_OPERATION_ADD:
		return after - source;
	case LODE_OPERATION_SUBTRACT:
		return after + source;
	case LODE_OPERATION_XOR:
		return after ^ source;
	case LODE_OPERATION_ROTATE_LEFT:
		source &= 63;
		return source == 0 ? after : after >> source | after << (64 - source);
	default: /* to the right */
		source &= 63;
		return source == 0 ? after : after << source | after >> (64 - source);
	}
}

static void undo_update(const Undoing *self)
{
	int target = self->effect.operands[0].number;
	uint64_t value, source;

	if (is_wide_register(self, 0) && read_unchanged_source(self, &source) &&
		read_register(self->after, target, &value))
		write_register(self, target,
			invert_update((LodeOperation)self->effect.operation, value, source));
}

static void undo_alone(const Undoing *self)
{
	int target = self->effect.operands[0].number;
	uint64_t value;

	if (!is_wide_register(self, 0) || !read_register(self->after, target, &value))
		return;
	switch (self->effect.operation) {
	case LODE_OPERATION_NEGATE:
		value = 0 - value;
		break;
	case LODE_OPERATION_COMPLEMENT:
		value = ~value;
		break;
	default: /* the bytes the other way round */
		value = __builtin_bswap64(value);
		break;
	}
	write_register(self, target, value);
}

/* The copy gives the value of the source; a copy to itself changes nothing. An exchange is two
 * copies. */
static void undo_move(const Undoing *self)
{
	const LodeEffectOperand *operands = self->effect.operands;
	uint64_t value;

	if (!is_wide_register(self, 0) || !is_wide_register(self, 1))
		return;
	if (read_register(self->after, operands[0].number, &value))
		write_register(self, operands[1].number, value);
	if (self->effect.operation == LODE_OPERATION_EXCHANGE &&
		read_register(self->after, operands[1].number, &value))
		write_register(self, operands[0].number, value);
}

/* 1 / odd, modulo 2^64, by Newton's iteration: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t result = odd; /* three bits */

	for (int i = 0; i < 5; i++)
		result *= 2 - odd * result;
	return result;
}

/* imul to, from, odd number; imul register, other register that is odd */
static void undo_product(const Undoing *self)
{
	const LodeEffectOperand *operands = self->effect.operands;
	unsigned n = self->effect.n_visible, from = n - 2;
	uint64_t value, factor = 0;

	if (!is_wide_register(self, 0) || !is_wide_register(self, from) ||
		!read_register(self->after, operands[0].number, &value))
		return;
	if (n == 3)
		factor = (uint64_t)operands[2].constant;
	else if (!read_unchanged_source(self, &factor))
		return;
	if ((factor & 1) != 0)
		write_register(self, operands[from].number, value * inverse(factor));
}

/* value = base + index × scale + displacement, with all known but one of base and index, which is
 * taken once, or with a factor of 3, 5 or 9: solved for it. */
static void undo_address(const Undoing *self)
{
	const LodeEffectOperand *memory = &self->effect.operands[1];
	uint64_t value, other = 0;

	if (!is_wide_register(self, 0) || self->effect.address_bits != 64 ||
		memory->base == LODE_OTHER_REGISTER ||
		!read_register(self->after, self->effect.operands[0].number, &value))
		return;
	value -= (uint64_t)memory->constant;
	if (memory->base == memory->index) {
		if (memory->scale > 1)
			write_register(self, memory->base, value * inverse(memory->scale + 1u));
		return;
	}
	/* `before` lacks the destination, so that an operand read from it is as it was */
	if (memory->base >= 0 &&
		(memory->index < 0 || read_register(self->before, memory->index, &other)))
		write_register(self, memory->base, value - other * memory->scale);
	else if (memory->index >= 0 && memory->scale == 1 &&
		 (memory->base < 0 || read_register(self->before, memory->base, &other)))
		write_register(self, memory->index, value - other);
}

static void undo_stack(const Undoing *self, bool is_push)
{
	uint64_t pointer, bytes = lode_effect_stack_bytes(&self->effect);

	/* after pop rsp the address that it popped from is unknown */
	if (bytes == 0 || (!is_push && self->effect.n_visible > 0 &&
				  lode_effect_register(&self->effect, 0) == LODE_REGISTER_RSP))
		return;
	if (read_register(self->after, LODE_REGISTER_RSP, &pointer))
		write_register(
			self, LODE_REGISTER_RSP, is_push ? pointer + bytes : pointer - bytes);
}

static void undo_leave(const Undoing *self)
{
	uint64_t pointer;

	/* it sets rsp to rbp and pops: rbp was 8 below what rsp is now */
	if (lode_effect_stack_bytes(&self->effect) == 8 &&
		read_register(self->after, LODE_REGISTER_RSP, &pointer))
		write_register(self, LODE_REGISTER_RBP, pointer - 8);
}

/* One step of a string instruction, not repeated: rsi and rdi went on by the size of the operand,
 * or back where the direction flag is set. */
static void undo_string(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	if (lode_full_instruction_is_repeated(full) || full->instruction.address_width != 64 ||
		!(after->known_flags & ZYDIS_CPUFLAG_DF))
		return;
	for (unsigned i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		uint64_t value, step = operand->size / 8;

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
			!lode_register_state_read(after, operand->mem.base, &value))
			continue;
		lode_register_state_write(before, operand->mem.base,
			after->flags & ZYDIS_CPUFLAG_DF ? value + step : value - step);
	}
}

static void recover(const Undoing *self)
{
	switch (self->effect.operation) {
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_SUBTRACT:
	case LODE_OPERATION_XOR:
		undo_update(self);
		break;
	case LODE_OPERATION_ROTATE_LEFT:
	case LODE_OPERATION_ROTATE_RIGHT:
		if (lode_effect_is_constant(&self->effect, 1))
			undo_update(self);
		break;
	case LODE_OPERATION_NEGATE:
	case LODE_OPERATION_COMPLEMENT:
	case LODE_OPERATION_SWAP_BYTES:
		undo_alone(self);
		break;
	case LODE_OPERATION_MOVE:
	case LODE_OPERATION_EXCHANGE:
		undo_move(self);
		break;
	case LODE_OPERATION_MULTIPLY:
		undo_product(self);
		break;
	case LODE_OPERATION_ADDRESS:
		undo_address(self);
		break;
	case LODE_OPERATION_PUSH:
	case LODE_OPERATION_PUSH_FLAGS:
		undo_stack(self, true);
		break;
	case LODE_OPERATION_POP:
	case LODE_OPERATION_POP_FLAGS:
		undo_stack(self, false);
		break;
	case LODE_OPERATION_LEAVE:
		undo_leave(self);
		break;
	default:
		break;
	}
}

void lode_backward_undo(const LodeFullInstruction *full, LodeRegisterState *state)
{
	const LodeRegisterState after = *state;
	Undoing undoing = {.after = &after, .before = state};

	lode_register_state_forget_written(state, full);
	lode_instruction_effect_of(&undoing.effect, full);
	recover(&undoing);
	if (full->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP)
		undo_string(full, &after, state);
}
