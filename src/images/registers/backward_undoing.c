/* SPDX-License-Identifier: MIT */
/* Only writes of 64 bits can be undone: 32 bits clear the upper half, whatever was in it. */
#include "images/registers/backward_undoing.h"

static bool is_wide_register(const LodeFullInstruction *full, unsigned i)
{
	const ZydisDecodedOperand *operand = &full->operands[i];

	return i < full->instruction.operand_count && operand->size == 64 &&
	       lode_operand_register(operand) >= 0;
}

static ZydisRegister register_of(const LodeFullInstruction *full, unsigned i)
{
	return full->operands[i].reg.value;
}

/* Operand 1 as it was before and is after: an immediate, or a register other than operand 0. */
static bool read_unchanged_source(
	const LodeFullInstruction *full, const LodeRegisterState *after, uint64_t *out_value)
{
	const ZydisDecodedOperand *source = &full->operands[1];

	if (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		*out_value = source->imm.value.u;
		return true;
	}
	return is_wide_register(full, 1) && register_of(full, 0) != register_of(full, 1) &&
	       lode_register_state_read(after, register_of(full, 1), out_value);
}

static uint64_t invert_update(ZydisMnemonic mnemonic, uint64_t after, uint64_t source)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		return after - source;
	case ZYDIS_MNEMONIC_SUB:
		return after + source;
	case ZYDIS_MNEMONIC_XOR:
		return after ^ source;
	case ZYDIS_MNEMONIC_ROL:
		source &= 63;
		return source == 0 ? after : after >> source | after << (64 - source);
	default: /* ror */
		source &= 63;
		return source == 0 ? after : after << source | after >> (64 - source);
	}
}

static void undo_update(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	uint64_t value, source;

	if (is_wide_register(full, 0) && read_unchanged_source(full, after, &source) &&
		lode_register_state_read(after, register_of(full, 0), &value))
		lode_register_state_write(before, register_of(full, 0),
			invert_update(full->instruction.mnemonic, value, source));
}

static void undo_rotation(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	if (full->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		undo_update(full, after, before);
}

static void undo_alone(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	uint64_t value;

	if (!is_wide_register(full, 0) ||
		!lode_register_state_read(after, register_of(full, 0), &value))
		return;
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		value--;
		break;
	case ZYDIS_MNEMONIC_DEC:
		value++;
		break;
	case ZYDIS_MNEMONIC_NEG:
		value = 0 - value;
		break;
	case ZYDIS_MNEMONIC_NOT:
		value = ~value;
		break;
	default: /* bswap */
		value = __builtin_bswap64(value);
		break;
	}
	lode_register_state_write(before, register_of(full, 0), value);
}

/* The copy gives the value of the source; a copy to itself changes nothing. */
static void undo_move(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	uint64_t value;

	if (is_wide_register(full, 0) && is_wide_register(full, 1) &&
		lode_register_state_read(after, register_of(full, 0), &value))
		lode_register_state_write(before, register_of(full, 1), value);
}

static void undo_exchange(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	uint64_t value;

	if (!is_wide_register(full, 0) || !is_wide_register(full, 1))
		return;
	if (lode_register_state_read(after, register_of(full, 0), &value))
		lode_register_state_write(before, register_of(full, 1), value);
	if (lode_register_state_read(after, register_of(full, 1), &value))
		lode_register_state_write(before, register_of(full, 0), value);
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
static void undo_product(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	unsigned n = full->instruction.operand_count_visible, from = n - 2;
	uint64_t value, factor = 0;

	if (n < 2 || !is_wide_register(full, 0) || !is_wide_register(full, from) ||
		!lode_register_state_read(after, register_of(full, 0), &value))
		return;
	if (n == 3)
		factor = full->operands[2].imm.value.u;
	else if (!read_unchanged_source(full, after, &factor))
		return;
	if ((factor & 1) != 0)
		lode_register_state_write(before, register_of(full, from), value * inverse(factor));
}

/* value = base + index × scale + displacement, with all known but one of base and index, which is
 * taken once, or with a factor of 3, 5 or 9: solved for it. */
static void undo_address(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	const ZydisDecodedOperandMem *memory = &full->operands[1].mem;
	uint64_t value, other = 0;

	if (!is_wide_register(full, 0) || full->instruction.address_width != 64 ||
		memory->base == ZYDIS_REGISTER_RIP ||
		!lode_register_state_read(after, register_of(full, 0), &value))
		return;
	value -= (uint64_t)memory->disp.value;
	if (memory->base == memory->index) {
		if (memory->scale > 1)
			lode_register_state_write(
				before, memory->base, value * inverse(memory->scale + 1u));
		return;
	}
	/* `before` lacks the destination, so that an operand read from it is as it was */
	if (memory->base != ZYDIS_REGISTER_NONE &&
		(memory->index == ZYDIS_REGISTER_NONE ||
			lode_register_state_read(before, memory->index, &other)))
		lode_register_state_write(before, memory->base, value - other * memory->scale);
	else if (memory->index != ZYDIS_REGISTER_NONE && memory->scale == 1 &&
		 (memory->base == ZYDIS_REGISTER_NONE ||
			 lode_register_state_read(before, memory->base, &other)))
		lode_register_state_write(before, memory->index, value - other);
}

static bool is_explicit_stack_pointer(const LodeFullInstruction *full)
{
	return full->operands[0].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       lode_operand_register(&full->operands[0]) == LODE_REGISTER_RSP;
}

static void undo_stack(const LodeFullInstruction *full, const LodeRegisterState *after,
	LodeRegisterState *before, bool is_push)
{
	uint64_t pointer, bytes = lode_full_instruction_stack_bytes(full);

	/* after pop rsp the address that it popped from is unknown */
	if (bytes == 0 || (!is_push && is_explicit_stack_pointer(full)))
		return;
	if (lode_register_state_read(after, ZYDIS_REGISTER_RSP, &pointer))
		lode_register_state_write(
			before, ZYDIS_REGISTER_RSP, is_push ? pointer + bytes : pointer - bytes);
}

static void undo_leave(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	uint64_t pointer;

	/* it sets rsp to rbp and pops: rbp was 8 below what rsp is now */
	if (lode_full_instruction_stack_bytes(full) == 8 &&
		lode_register_state_read(after, ZYDIS_REGISTER_RSP, &pointer))
		lode_register_state_write(before, ZYDIS_REGISTER_RBP, pointer - 8);
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

static void recover_by_category(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	switch (full->instruction.meta.category) {
	case ZYDIS_CATEGORY_PUSH:
		undo_stack(full, after, before, true);
		break;
	case ZYDIS_CATEGORY_POP:
		undo_stack(full, after, before, false);
		break;
	case ZYDIS_CATEGORY_STRINGOP:
		undo_string(full, after, before);
		break;
	default:
		break;
	}
}

static void recover(
	const LodeFullInstruction *full, const LodeRegisterState *after, LodeRegisterState *before)
{
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_XOR:
		undo_update(full, after, before);
		break;
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		undo_rotation(full, after, before);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_BSWAP:
		undo_alone(full, after, before);
		break;
	case ZYDIS_MNEMONIC_MOV:
		undo_move(full, after, before);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		undo_exchange(full, after, before);
		break;
	case ZYDIS_MNEMONIC_IMUL:
		undo_product(full, after, before);
		break;
	case ZYDIS_MNEMONIC_LEA:
		undo_address(full, after, before);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		undo_leave(full, after, before);
		break;
	default:
		recover_by_category(full, after, before);
		break;
	}
}

void lode_backward_undo(const LodeFullInstruction *full, LodeRegisterState *state)
{
	const LodeRegisterState after = *state;

	lode_register_state_forget_written(state, full);
	recover(full, &after, state);
}
