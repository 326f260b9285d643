/* SPDX-License-Identifier: MIT */
#include "images/registers/memory_emulation.h"

enum { LARGEST_VECTOR = 64 }; /* bytes */

/* The number of the operand in memory that an instruction writes; −1: none. */
static int written_memory(const LodeFullInstruction *full)
{
	for (int i = 0; i < full->instruction.operand_count; i++)
		if (full->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			lode_operand_is_written(&full->operands[i]))
			return i;
	return -1;
}

bool lode_memory_is_written(const LodeFullInstruction *full)
{
	return written_memory(full) >= 0 ||
	       full->instruction.meta.category == ZYDIS_CATEGORY_CLZERO ||
	       full->instruction.meta.category == ZYDIS_CATEGORY_SGX;
}

LodeStackWrite lode_memory_write_of(
	const LodeFullInstruction *full, const LodeRegisterState *before)
{
	LodeStackWrite write = {.size = 0};
	LodeDataOperand operand;
	uint8_t accesses[LODE_MAX_DATA_OPERANDS];
	int number = written_memory(full);
	uint64_t pointer, bytes;

	if (number < 0 || lode_full_instruction_is_repeated(full))
		return write;
	if (lode_full_instruction_moves_stack(full) &&
		full->operands[number].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
		bytes = lode_full_instruction_stack_bytes(full);
		if (!lode_register_state_read(before, ZYDIS_REGISTER_RSP, &pointer))
			return write;
		write.address = pointer - bytes;
		write.size = (unsigned)bytes;
		return write;
	}
	/* enter, xsave and the like write elsewhere or more than the operand says */
	if (lode_full_instruction_accesses(full, accesses) == 0 ||
		lode_full_instruction_locate(full, before, (uint8_t)number, &operand) !=
			LODE_REASON_NONE ||
		operand.size > LARGEST_VECTOR)
		return write;
	write.address = operand.address;
	write.size = operand.size;
	return write;
}

static bool read_memory(const LodeFullInstruction *full, const LodeRegisterState *before,
	const LodeStackMemory *memory, uint8_t operand, uint64_t *out_value)
{
	LodeDataOperand located;

	return full->operands[operand].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       full->operands[operand].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       full->operands[operand].size <= 64 &&
	       lode_full_instruction_locate(full, before, operand, &located) == LODE_REASON_NONE &&
	       lode_stack_memory_read(memory, located.address, located.size, out_value);
}

/* Replaces each operand that is loaded by its value as an immediate, where the memory is known. */
static void load(
	LodeFullInstruction *full, const LodeRegisterState *before, const LodeStackMemory *memory)
{
	uint64_t value;

	for (uint8_t i = 0; i < full->instruction.operand_count_visible; i++) {
		ZydisDecodedOperand *operand = &full->operands[i];

		if (lode_operand_is_written(operand) ||
			!read_memory(full, before, memory, i, &value))
			continue;
		operand->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		operand->imm.is_signed = ZYAN_FALSE;
		operand->imm.value.u = value;
	}
}

/* For `cmp [m], …` and `add [m], …`: replaces the operand in memory by a register that the
 * instruction does not use, with its value, if that is known. The register's number; −1: none. */
static int lend_register(
	LodeFullInstruction *full, LodeRegisterState *state, const LodeStackMemory *memory)
{
	ZydisDecodedOperand *operand = &full->operands[0];
	bool is_other = lode_operand_register(&full->operands[1]) == 15;
	ZydisRegister name = is_other ? ZYDIS_REGISTER_R14 : ZYDIS_REGISTER_R15;
	uint64_t value;

	if (full->instruction.operand_count_visible == 0 ||
		(full->instruction.mnemonic != ZYDIS_MNEMONIC_CMP &&
			full->instruction.mnemonic != ZYDIS_MNEMONIC_TEST &&
			!lode_operand_is_written(operand)) ||
		(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0 ||
		!read_memory(full, state, memory, 0, &value))
		return -1;
	operand->type = ZYDIS_OPERAND_TYPE_REGISTER;
	operand->reg.value = operand->size == 64   ? name
	                     : operand->size == 32 ? name + ZYDIS_REGISTER_R15D - ZYDIS_REGISTER_R15
	                     : operand->size == 16
	                             ? name + ZYDIS_REGISTER_R15W - ZYDIS_REGISTER_R15
	                             : name + ZYDIS_REGISTER_R15B - ZYDIS_REGISTER_R15;
	state->values[is_other ? 14 : 15] = value;
	state->known |= 1U << (is_other ? 14 : 15);
	return is_other ? 14 : 15;
}

/* Restores the register; gives the value that the instruction has computed in it. */
static void return_register(LodeRegisterState *state, const LodeRegisterState *before, int number,
	LodeStackWrite *out_result)
{
	uint32_t bit = 1U << number;

	out_result->is_known = (state->known & bit) != 0;
	out_result->value = state->values[number];
	state->values[number] = before->values[number];
	state->known = (state->known & ~bit) | (before->known & bit);
}

static void store(const LodeFullInstruction *full, const LodeRegisterState *before,
	const LodeStackWrite *result, LodeStackMemory *memory)
{
	const ZydisDecodedOperand *source = &full->operands[1];
	LodeStackWrite write = lode_memory_write_of(full, before);

	if (write.size > 0 && write.size <= sizeof(write.value)) {
		write.is_known = result->is_known;
		write.value = result->value;
	}
	if (full->instruction.mnemonic == ZYDIS_MNEMONIC_MOV && write.size > 0 &&
		write.size <= sizeof(write.value)) {
		write.is_known = source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		                 (lode_operand_register(source) >= 0 &&
					 lode_register_state_read(
						 before, source->reg.value, &write.value));
		if (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			write.value = source->imm.value.u;
	}
	lode_stack_memory_write(memory, &write);
}

static bool has_memory(const LodeFullInstruction *full)
{
	for (unsigned i = 0; i < full->instruction.operand_count; i++)
		if (full->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return true;
	return lode_memory_is_written(full);
}

/* The instruction reads or writes memory. */
static LodeStep emulate_access(const LodeFullInstruction *full, LodeRegisterState *state,
	LodeStackMemory *memory, uint64_t *out_next)
{
	bool is_stack = lode_full_instruction_moves_stack(full);
	bool is_store = lode_memory_is_written(full) && !is_stack;
	const LodeRegisterState before = *state;
	LodeFullInstruction known = *full;
	LodeStackWrite result = {.size = 0};
	int lent = is_stack ? -1 : lend_register(&known, state, memory);
	LodeStackMemory none;
	LodeStep went;

	/* a store goes where its operand says, and not anywhere in the stack */
	lode_stack_memory_init(&none, NULL, 0, 0);
	load(&known, &before, memory);
	went = lode_forward_emulate(&known, state, is_store ? &none : memory, out_next);
	if (lent >= 0)
		return_register(state, &before, lent, &result);
	if (is_store)
		store(full, &before, &result, memory);
	return went;
}

LodeStep lode_memory_emulate(const LodeFullInstruction *full, LodeRegisterState *state,
	LodeStackMemory *memory, uint64_t *out_next)
{
	const LodeStackWrite unknown = {.size = 0};
	LodeStep went;

	if (full->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) {
		*out_next = full->address + full->instruction.length;
		if (lode_memory_is_written(full))
			store(full, state, &unknown, memory);
		went = LODE_STEP_LOST;
	} else {
		went = has_memory(full) ? emulate_access(full, state, memory, out_next)
		                        : lode_forward_emulate(full, state, memory, out_next);
	}
	if (went == LODE_STEP_BLOCKED || went == LODE_STEP_LOST)
		lode_register_state_forget_written(state, full);
	return went;
}
