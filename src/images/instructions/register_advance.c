/* SPDX-License-Identifier: MIT */
#include "images/instructions/register_advance.h"

#include "images/instructions/instruction_effect.h"

/* False: the first operand is no whole register of 32 or 64 bits. */
static bool decode(LodeInstructionEffect *effect, const uint8_t *code, size_t size)
{
	const LodeEffectOperand *first = &effect->operands[0];

	return lode_instruction_effect_decode(effect, code, size) &&
	       first->kind == LODE_OPERAND_REGISTER && (first->bits == 32 || first->bits == 64);
}

/* Base and displacement alone; an index without a base and scale is one too. */
static bool read_address(const LodeInstructionEffect *effect, LodeRegisterAdvance *out)
{
	const LodeEffectOperand *memory = &effect->operands[1];
	int source = memory->base;

	if (source == LODE_NO_REGISTER && memory->scale <= 1)
		source = memory->index;
	else if (memory->index != LODE_NO_REGISTER)
		return false;
	if (source < 0 || effect->address_bits != 64)
		return false;
	out->source = (uint8_t)source;
	out->constant = memory->constant;
	return true;
}

bool lode_register_advance_decode(LodeRegisterAdvance *out, const uint8_t *code, size_t size)
{
	LodeInstructionEffect effect;

	if (!decode(&effect, code, size))
		return false;
	const LodeEffectOperand *first = &effect.operands[0], *second = &effect.operands[1];
	const uint8_t target = (uint8_t)first->number;
	LodeRegisterAdvance found = {target, target, (uint8_t)first->bits, 0};
	bool is_found = false;
	switch (effect.operation) {
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_SUBTRACT:
		is_found = second->kind == LODE_OPERAND_CONSTANT;
		if (is_found) /* An immediate has 32 bits. */
			found.constant = effect.operation == LODE_OPERATION_ADD ? second->constant
			                                                        : -second->constant;
		break;
	case LODE_OPERATION_MOVE:
		found.source = (uint8_t)second->number;
		is_found = second->kind == LODE_OPERAND_REGISTER && second->bits == first->bits;
		break;
	case LODE_OPERATION_ADDRESS:
		is_found = read_address(&effect, &found);
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

static bool read_address_terms(LodeRegisterTerms *out, const LodeEffectOperand *memory)
{
	if (memory->index == LODE_OTHER_REGISTER)
		return false;
	if (memory->base >= 0)
		add_term(out, memory->base, 1);
	if (memory->index >= 0)
		add_term(out, memory->index, memory->scale);
	return true;
}

/* The sum of a register and the second operand, a register or a constant. */
static bool read_sum(LodeRegisterTerms *out, const LodeEffectOperand *second, int64_t factor)
{
	add_term(out, out->target, 1);
	if (second->kind == LODE_OPERAND_CONSTANT)
		return true;
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

static bool read_copy(LodeRegisterTerms *out, const LodeEffectOperand *second)
{
	if (second->kind == LODE_OPERAND_CONSTANT)
		return true;
	if (second->kind != LODE_OPERAND_REGISTER || second->bits < 32)
		return false;
	add_term(out, second->number, 1);
	out->is_copy = true;
	return true;
}

bool lode_register_terms_decode(LodeRegisterTerms *out, const uint8_t *code, size_t size)
{
	LodeInstructionEffect effect;

	if (!decode(&effect, code, size))
		return false;
	const LodeEffectOperand *second = &effect.operands[1];
	const bool is_of_itself = lode_effect_is_of_itself(&effect);
	*out = (LodeRegisterTerms){.target = (uint8_t)effect.operands[0].number};
	switch (effect.operation) {
	case LODE_OPERATION_MOVE:
	case LODE_OPERATION_EXTEND_SIGN:
		return read_copy(out, second);
	case LODE_OPERATION_ADDRESS:
		return read_address_terms(out, second);
	case LODE_OPERATION_NEGATE:
		add_term(out, out->target, -1);
		return true;
	case LODE_OPERATION_ADD:
		return read_sum(out, second, 1);
	case LODE_OPERATION_SUBTRACT:
		return is_of_itself || read_sum(out, second, -1);
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
