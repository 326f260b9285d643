/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_test.h"

#include "images/instructions/full_instruction.h"

/* False: the first operand is no whole register of 32 or 64 bits. */
static bool decode(LodeFullInstruction *full, const uint8_t *code, size_t size)
{
	const ZydisDecodedOperand *first = &full->operands[0];

	return lode_full_instruction_decode(full, code, size, 0) &&
	       lode_operand_register(first) >= 0 && (first->size == 32 || first->size == 64);
}

static bool is_constant(const LodeFullInstruction *full)
{
	return full->instruction.operand_count_visible == 2 &&
	       full->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_same_register(const LodeFullInstruction *full)
{
	return lode_operand_register(&full->operands[1]) ==
	               lode_operand_register(&full->operands[0]) &&
	       full->operands[1].size == full->operands[0].size;
}

bool lode_register_test_decode(LodeRegisterTest *out, const uint8_t *code, size_t size)
{
	LodeFullInstruction full = {0};
	bool is_found = false;

	if (!decode(&full, code, size))
		return false;
	const ZydisDecodedOperand *second = &full.operands[1];
	LodeRegisterTest found = {
		.left = (uint8_t)lode_operand_register(&full.operands[0]),
		.right = LODE_TEST_CONSTANT,
		.width = (uint8_t)full.operands[0].size,
		.constant = is_constant(&full) ? second->imm.value.s : 0,
	};
	switch (full.instruction.mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_SUB:
		is_found = is_constant(&full);
		if (!is_found && lode_operand_register(second) >= 0 &&
			second->size == found.width) {
			found.right = (uint8_t)lode_operand_register(second);
			is_found = true;
		}
		break;
	case ZYDIS_MNEMONIC_TEST:
		is_found = is_same_register(&full);
		break;
	case ZYDIS_MNEMONIC_ADD:
		/* An immediate has 32 bits. */
		found.constant = -found.constant;
		found.is_equality = true;
		is_found = is_constant(&full);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		found.constant = full.instruction.mnemonic == ZYDIS_MNEMONIC_INC ? -1 : 1;
		found.is_equality = true;
		is_found = true;
		break;
	default:
		break;
	}
	if (is_found)
		*out = found;
	return is_found;
}

bool lode_test_jump_decode(LodeTestJump *out, const uint8_t *code, size_t size)
{
	static const struct {
		ZydisMnemonic mnemonic;
		LodeTestJump jump;
	} jumps[] = {
		{ZYDIS_MNEMONIC_JZ, {LODE_TEST_EQUAL, false}},
		{ZYDIS_MNEMONIC_JNZ, {LODE_TEST_EQUAL, true}},
		{ZYDIS_MNEMONIC_JB, {LODE_TEST_BELOW, false}},
		{ZYDIS_MNEMONIC_JNB, {LODE_TEST_BELOW, true}},
		{ZYDIS_MNEMONIC_JBE, {LODE_TEST_BELOW_OR_EQUAL, false}},
		{ZYDIS_MNEMONIC_JNBE, {LODE_TEST_BELOW_OR_EQUAL, true}},
		{ZYDIS_MNEMONIC_JL, {LODE_TEST_LESS, false}},
		{ZYDIS_MNEMONIC_JNL, {LODE_TEST_LESS, true}},
		{ZYDIS_MNEMONIC_JLE, {LODE_TEST_LESS_OR_EQUAL, false}},
		{ZYDIS_MNEMONIC_JNLE, {LODE_TEST_LESS_OR_EQUAL, true}},
	};
	LodeFullInstruction full = {0};

	if (!lode_full_instruction_decode(&full, code, size, 0))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(jumps); i++)
		if (jumps[i].mnemonic == full.instruction.mnemonic) {
			*out = jumps[i].jump;
			return true;
		}
	return false;
}

bool lode_register_constant_decode(
	uint8_t *out_register, uint64_t *out_value, const uint8_t *code, size_t size)
{
	LodeFullInstruction full = {0};

	if (!decode(&full, code, size))
		return false;
	bool is_move = full.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_constant(&full);
	bool is_zero = (full.instruction.mnemonic == ZYDIS_MNEMONIC_XOR ||
			       full.instruction.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	               is_same_register(&full);
	if (!is_move && !is_zero)
		return false;
	uint64_t value = is_move ? full.operands[1].imm.value.u : 0;
	*out_register = (uint8_t)lode_operand_register(&full.operands[0]);
	*out_value = full.operands[0].size == 32 ? (uint32_t)value : value;
	return true;
}
