/* SPDX-License-Identifier: MIT */
#include "images/targets/branch_way.h"

#include "images/instructions/full_instruction.h"
#include "images/instructions/register_state.h"

enum { RCX = 1, RSP = 4, N_REGISTERS = 16 };

static bool is_condition(const LodeFullInstruction *full, const LodeBranchState *state)
{
	const LodeRegisterState flags = {.flags = state->flags, .known_flags = UINT64_MAX};
	bool holds = false;

	lode_register_state_condition(&flags, full->instruction.opcode & 0xf, &holds);
	return holds;
}

/* The count that jrcxz and the loop instructions look at, by the size of their address. */
static uint64_t count_of(const LodeFullInstruction *full, const LodeBranchState *state)
{
	uint64_t mask = full->instruction.address_width == 32 ? UINT32_MAX : UINT64_MAX;

	return state->registers[RCX] & mask;
}

static bool is_taken(const LodeFullInstruction *full, const LodeBranchState *state)
{
	bool is_zero = (state->flags & ZYDIS_CPUFLAG_ZF) != 0;

	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_CALL:
		return true;
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
		return count_of(full, state) == 0;
	case ZYDIS_MNEMONIC_LOOP:
		return count_of(full, state) != 1;
	case ZYDIS_MNEMONIC_LOOPE:
		return count_of(full, state) != 1 && is_zero;
	case ZYDIS_MNEMONIC_LOOPNE:
		return count_of(full, state) != 1 && !is_zero;
	default:
		return is_condition(full, state);
	}
}

/* Not from the stack: it has changed by the time that it is read. */
static bool read_target(const ZydisDecodedOperandMem *memory, const LodeFullInstruction *full,
	const LodeBranchState *state, uint64_t *out_target)
{
	uint64_t at = memory->disp.has_displacement ? (uint64_t)memory->disp.value : 0;
	int base = lode_general_register(memory->base),
	    index = lode_general_register(memory->index);

	if (state->read_word == NULL || base == RSP || memory->segment == ZYDIS_REGISTER_FS ||
		memory->segment == ZYDIS_REGISTER_GS || full->instruction.address_width != 64)
		return false;
	if (memory->base == ZYDIS_REGISTER_RIP)
		at += full->address + full->instruction.length;
	else if (base >= 0 && base < N_REGISTERS)
		at += state->registers[base];
	else if (memory->base != ZYDIS_REGISTER_NONE)
		return false;
	if (index >= 0 && index < N_REGISTERS)
		at += state->registers[index] * memory->scale;
	else if (memory->index != ZYDIS_REGISTER_NONE)
		return false;
	return state->read_word(state->data, at, out_target);
}

bool lode_branch_way(const uint8_t *code, size_t size, uint64_t address,
	const LodeBranchState *state, uint64_t *out_target)
{
	LodeFullInstruction full;

	if (!lode_full_instruction_decode(&full, code, size, address))
		return false;
	const ZydisDecodedOperand *operand = &full.operands[0];
	ZydisInstructionCategory category = full.instruction.meta.category;
	if ((category != ZYDIS_CATEGORY_COND_BR && category != ZYDIS_CATEGORY_UNCOND_BR &&
		    category != ZYDIS_CATEGORY_CALL) ||
		full.instruction.operand_count == 0)
		return false;
	uint64_t after = address + full.instruction.length;
	int target = lode_operand_register(operand);
	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative)
		*out_target = is_taken(&full, state) ? after + (uint64_t)operand->imm.value.s
		                                     : after;
	else if (operand->size == 64 && target >= 0 && target < N_REGISTERS)
		*out_target = state->registers[target];
	else
		return operand->size == 64 && operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		       read_target(&operand->mem, &full, state, out_target);
	return true;
}
