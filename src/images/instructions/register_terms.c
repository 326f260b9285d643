/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_terms.h"

#include "images/instructions/instruction_effect.h"

enum { MOST_SHIFT = 30 };

static void add_term(LodeRegisterTerms *self, int number, int64_t factor)
{
	self->terms[self->n++] = (LodeRegisterTerm){(uint8_t)number, factor};
}

/* The result is the one term and a constant. */
static void set_constant(
	LodeRegisterTerms *self, const LodeInstructionEffect *effect, int64_t constant)
{
	self->width = (uint8_t)effect->operands[0].bits;
	self->constant = constant;
}

static bool read_address(LodeRegisterTerms *out, const LodeInstructionEffect *effect)
{
	const LodeEffectOperand *memory = &effect->operands[1];

	if (memory->index == LODE_OTHER_REGISTER)
		return false;
	if (memory->base >= 0)
		add_term(out, memory->base, 1);
	if (memory->index >= 0)
		add_term(out, memory->index, memory->scale);
	if (out->n == 1 && out->terms[0].factor == 1 && effect->address_bits == 64)
		set_constant(out, effect, memory->constant);
	return true;
}

/* The sum of a register and the second operand, a register or a constant, times 1 or -1. */
static bool read_sum(LodeRegisterTerms *out, const LodeInstructionEffect *effect, int64_t factor)
{
	const LodeEffectOperand *second = &effect->operands[1];

	add_term(out, out->target, 1);
	if (second->kind == LODE_OPERAND_CONSTANT) {
		/* An immediate has 32 bits. */
		set_constant(out, effect, second->constant * factor);
		return true;
	}
	if (second->kind != LODE_OPERAND_REGISTER)
		return false;
	add_term(out, second->number, factor);
	return true;
}

static bool read_product(LodeRegisterTerms *out, const LodeInstructionEffect *effect)
{
	const LodeEffectOperand *second = &effect->operands[1], *third = &effect->operands[2];

	if (second->kind != LODE_OPERAND_REGISTER || second->bits != effect->operands[0].bits)
		return false;
	if (effect->n_visible == 3) {
		add_term(out, second->number, third->constant);
		return third->kind == LODE_OPERAND_CONSTANT;
	}
	out->is_product = true;
	add_term(out, out->target, 1);
	add_term(out, second->number, 1);
	return true;
}

static bool read_copy(LodeRegisterTerms *out, const LodeInstructionEffect *effect)
{
	const LodeEffectOperand *second = &effect->operands[1];

	if (second->kind == LODE_OPERAND_CONSTANT)
		return true;
	if (second->kind != LODE_OPERAND_REGISTER || second->bits < 32)
		return false;
	add_term(out, second->number, 1);
	out->is_copy = true;
	if (effect->operation == LODE_OPERATION_MOVE)
		set_constant(out, effect, 0);
	return true;
}

bool lode_register_terms_decode(LodeRegisterTerms *out, const uint8_t *code, size_t size)
{
	LodeInstructionEffect effect;

	if (!lode_instruction_effect_decode(&effect, code, size))
		return false;
	const LodeEffectOperand *first = &effect.operands[0], *second = &effect.operands[1];
	const bool is_of_itself = lode_effect_is_of_itself(&effect);
	if (first->kind != LODE_OPERAND_REGISTER || (first->bits != 32 && first->bits != 64))
		return false;
	*out = (LodeRegisterTerms){.target = (uint8_t)first->number};
	switch (effect.operation) {
	case LODE_OPERATION_MOVE:
	case LODE_OPERATION_EXTEND_SIGN:
		return read_copy(out, &effect);
	case LODE_OPERATION_ADDRESS:
		return read_address(out, &effect);
	case LODE_OPERATION_NEGATE:
		add_term(out, out->target, -1);
		return true;
	case LODE_OPERATION_ADD:
		return read_sum(out, &effect, 1);
	case LODE_OPERATION_SUBTRACT:
		return is_of_itself || read_sum(out, &effect, -1);
	case LODE_OPERATION_XOR:
		return is_of_itself;
	case LODE_OPERATION_SHIFT_LEFT:
		if (second->kind != LODE_OPERAND_CONSTANT ||
			(uint64_t)second->constant > MOST_SHIFT)
			return false;
		add_term(out, out->target, INT64_C(1) << second->constant);
		return true;
	case LODE_OPERATION_MULTIPLY:
		return read_product(out, &effect);
	default:
		return false;
	}
}
