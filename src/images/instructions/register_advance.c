/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_advance.h"

#include "images/instructions/full_instruction.h"

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

/* --- sums --- */

enum { MOST_SHIFT = 30 };

static void add_term(LodeRegisterTerms *self, int number, int64_t factor)
{
	self->terms[self->n++] = (LodeRegisterTerm){(uint8_t)number, factor};
}

static bool read_address_terms(LodeRegisterTerms *out, const ZydisDecodedOperandMem *memory)
{
	const struct {
		ZydisRegister name;
		uint8_t factor;
	} parts[] = {{memory->base, 1}, {memory->index, memory->scale}};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		int number = lode_general_register(parts[i].name);
		if (number >= 0)
			add_term(out, number, parts[i].factor);
		else if (parts[i].name != ZYDIS_REGISTER_NONE &&
			 parts[i].name != ZYDIS_REGISTER_RIP)
			return false;
	}
	return true;
}

/* The sum of a register and the second operand, a register or a constant. */
static bool read_sum(
	LodeRegisterTerms *out, const ZydisDecodedOperand *second, int64_t factor, bool is_same)
{
	if (is_same && factor == -1)
		return true;
	add_term(out, out->target, 1);
	if (second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return true;
	if (lode_operand_register(second) < 0)
		return false;
	add_term(out, lode_operand_register(second), factor);
	return true;
}

static bool read_product(LodeRegisterTerms *out, const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *second = &full->operands[1], *third = &full->operands[2];
	int number = lode_operand_register(second);

	if (number < 0 || second->size != full->operands[0].size)
		return false;
	if (full->instruction.operand_count_visible == 3) {
		add_term(out, number, third->imm.value.s);
		return third->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	}
	out->is_product = full->instruction.operand_count_visible == 2;
	add_term(out, out->target, 1);
	add_term(out, number, 1);
	return out->is_product;
}

static bool read_copy(LodeRegisterTerms *out, const ZydisDecodedOperand *second)
{
	if (second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return true;
	if (lode_operand_register(second) < 0 || second->size < 32)
		return false;
	add_term(out, lode_operand_register(second), 1);
	out->is_copy = true;
	return true;
}

bool lode_register_terms_decode(LodeRegisterTerms *out, const uint8_t *code, size_t size)
{
	LodeFullInstruction full = {0};

	if (!lode_full_instruction_decode(&full, code, size, 0))
		return false;
	const ZydisDecodedOperand *first = &full.operands[0], *second = &full.operands[1];
	int target = lode_operand_register(first);
	bool is_same = target >= 0 && lode_operand_register(second) == target &&
	               second->size == first->size;
	if (target < 0 || (first->size != 32 && first->size != 64))
		return false;
	*out = (LodeRegisterTerms){.target = (uint8_t)target};
	switch (full.instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
		return read_copy(out, second);
	case ZYDIS_MNEMONIC_CDQE:
		add_term(out, target, 1);
		out->is_copy = true;
		return true;
	case ZYDIS_MNEMONIC_LEA:
		return read_address_terms(out, &second->mem);
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		add_term(out, target, 1);
		return true;
	case ZYDIS_MNEMONIC_NEG:
		add_term(out, target, -1);
		return true;
	case ZYDIS_MNEMONIC_ADD:
		return read_sum(out, second, 1, is_same);
	case ZYDIS_MNEMONIC_SUB:
		return read_sum(out, second, -1, is_same);
	case ZYDIS_MNEMONIC_XOR:
		return is_same;
	case ZYDIS_MNEMONIC_SHL:
		if (second->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
			second->imm.value.u > MOST_SHIFT)
			return false;
		add_term(out, target, INT64_C(1) << second->imm.value.u);
		return true;
	case ZYDIS_MNEMONIC_IMUL:
		return read_product(out, &full);
	default:
		return false;
	}
}
