/* SPDX-License-Identifier: MIT */
#include "images/instructions/full_instruction.h"

enum { MAX_INSTRUCTION_BYTES = 15 };

bool lode_full_instruction_decode(
	LodeFullInstruction *self, const uint8_t *code, size_t size, uint64_t address)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	self->address = address;
	/* No more than a choice of two numbers: not worth to be kept. */
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code,
		       MIN(size, MAX_INSTRUCTION_BYTES), &self->instruction)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &self->instruction,
		       self->operands, self->instruction.operand_count));
}

bool lode_full_instruction_is_repeated(const LodeFullInstruction *self)
{
	return (self->instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						       ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

bool lode_full_instruction_moves_stack(const LodeFullInstruction *self)
{
	switch (self->instruction.meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return true;
	default:
		return self->instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE;
	}
}

uint64_t lode_full_instruction_stack_bytes(const LodeFullInstruction *self)
{
	for (unsigned i = self->instruction.operand_count; i-- > 0;) {
		const ZydisDecodedOperand *operand = &self->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			return operand->size / 8;
	}
	return 0;
}

int lode_general_register(ZydisRegister name)
{
	/* nearly all of them are one of these; a search in tables takes long */
	if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15)
		return (int)(name - ZYDIS_REGISTER_RAX);
	if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D)
		return (int)(name - ZYDIS_REGISTER_EAX);
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
	               ? (int)(whole - ZYDIS_REGISTER_RAX)
	               : -1;
}

int lode_operand_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER
	               ? lode_general_register(operand->reg.value)
	               : -1;
}
