/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_test.h"

#include "images/instructions/instruction_effect.h"

/* False: the first operand is no whole register of 32 or 64 bits. */
static bool decode(LodeInstructionEffect *effect, const uint8_t *code, size_t size)
{
	const LodeEffectOperand *first = &effect->operands[0];

	return lode_instruction_effect_decode(effect, code, size) &&
	       first->kind == LODE_OPERAND_REGISTER && (first->bits == 32 || first->bits == 64);
}

bool lode_register_test_decode(LodeRegisterTest *out, const uint8_t *code, size_t size)
{
	LodeInstructionEffect effect;
	bool is_found = false;

	if (!decode(&effect, code, size))
		return false;
	const LodeEffectOperand *first = &effect.operands[0], *second = &effect.operands[1];
	const bool is_constant = second->kind == LODE_OPERAND_CONSTANT;
	LodeRegisterTest found = {
		.left = (uint8_t)first->number,
		.right = LODE_TEST_CONSTANT,
		.width = (uint8_t)first->bits,
		.constant = is_constant ? second->constant : 0,
	};
	switch (effect.operation) {
	case LODE_OPERATION_COMPARE:
	case LODE_OPERATION_SUBTRACT:
		is_found = is_constant;
		if (second->kind == LODE_OPERAND_REGISTER && second->bits == found.width) {
			found.right = (uint8_t)second->number;
			is_found = true;
		}
		break;
	case LODE_OPERATION_TEST:
		is_found = lode_effect_is_of_itself(&effect);
		break;
	case LODE_OPERATION_ADD:
		/* An immediate has 32 bits. */
		found.constant = -found.constant;
		found.is_equality = true;
		is_found = is_constant;
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
	LodeInstructionEffect effect;

	if (!decode(&effect, code, size))
		return false;
	const LodeEffectOperand *second = &effect.operands[1];
	bool is_move = effect.operation == LODE_OPERATION_MOVE &&
	               second->kind == LODE_OPERAND_CONSTANT;
	bool is_zero = (effect.operation == LODE_OPERATION_XOR ||
			       effect.operation == LODE_OPERATION_SUBTRACT) &&
	               lode_effect_is_of_itself(&effect);
	if (!is_move && !is_zero)
		return false;
	uint64_t value = is_move ? (uint64_t)second->constant : 0;
	*out_register = (uint8_t)effect.operands[0].number;
	*out_value = effect.operands[0].bits == 32 ? (uint32_t)value : value;
	return true;
}
