/* SPDX-License-Identifier: MIT */
#include "images/registers/register_advance.h"

#include "images/code/full_instruction.h"

/* Base and displacement alone; an index without a base and scale is one too. */
static bool read_address(const ZydisDecodedOperandMem *memory, LodeRegisterAdvance *out)
{
	ZydisRegister name = memory->base;

	if (name == ZYDIS_REGISTER_NONE && memory->scale <= 1)
		name = memory->index;
	else if (memory->index != ZYDIS_REGISTER_NONE)
		return false;
	int source = lode_general_register(name);
	if (source < 0 || ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) != 64)
		return false;
	out->source = (uint8_t)source;
	out->constant = memory->disp.value;
	return true;
}

bool lode_register_advance_decode(LodeRegisterAdvance *out, const uint8_t *code, size_t size)
{
	LodeFullInstruction full = {0};

	if (!lode_full_instruction_decode(&full, code, size, 0))
		return false;
	const ZydisDecodedOperand *first = &full.operands[0], *second = &full.operands[1];
	int target = lode_operand_register(first);
	if (target < 0 || (first->size != 32 && first->size != 64))
		return false;
	LodeRegisterAdvance found = {(uint8_t)target, (uint8_t)target, (uint8_t)first->size, 0};
	bool has_constant = full.instruction.operand_count_visible == 2 &&
	                    second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	bool is_found = false;
	switch (full.instruction.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		found.constant = 1;
		is_found = true;
		break;
	case ZYDIS_MNEMONIC_DEC:
		found.constant = -1;
		is_found = true;
		break;
	case ZYDIS_MNEMONIC_ADD:
		found.constant = has_constant ? second->imm.value.s : 0;
		is_found = has_constant;
		break;
	case ZYDIS_MNEMONIC_SUB:
		/* An immediate has 32 bits. */
		found.constant = has_constant ? -second->imm.value.s : 0;
		is_found = has_constant;
		break;
	case ZYDIS_MNEMONIC_MOV:
		found.source = (uint8_t)lode_operand_register(second);
		is_found = lode_operand_register(second) >= 0 && second->size == first->size;
		break;
	case ZYDIS_MNEMONIC_LEA:
		is_found = read_address(&second->mem, &found);
		break;
	default:
		break;
	}
	if (is_found)
		*out = found;
	return is_found;
}
