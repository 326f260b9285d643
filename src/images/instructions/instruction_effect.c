/* SPDX-License-Identifier: MIT */
#include "images/instructions/instruction_effect.h"

#include "base/bits.h"

LodeOperation lode_instruction_operation(const ZydisDecodedInstruction *instruction)
{
	static const uint8_t operations[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
		[ZYDIS_MNEMONIC_ADC] = LODE_OPERATION_ADD_CARRY,
		[ZYDIS_MNEMONIC_ADD] = LODE_OPERATION_ADD,
		[ZYDIS_MNEMONIC_AND] = LODE_OPERATION_AND,
		[ZYDIS_MNEMONIC_BSWAP] = LODE_OPERATION_SWAP_BYTES,
		[ZYDIS_MNEMONIC_CALL] = LODE_OPERATION_CALL,
		[ZYDIS_MNEMONIC_CDQE] = LODE_OPERATION_EXTEND_SIGN,
		[ZYDIS_MNEMONIC_CMP] = LODE_OPERATION_COMPARE,
		[ZYDIS_MNEMONIC_DEC] = LODE_OPERATION_ADD,
		[ZYDIS_MNEMONIC_ENDBR64] = LODE_OPERATION_MARK,
		[ZYDIS_MNEMONIC_HLT] = LODE_OPERATION_STOP,
		[ZYDIS_MNEMONIC_IMUL] = LODE_OPERATION_MULTIPLY,
		[ZYDIS_MNEMONIC_INC] = LODE_OPERATION_ADD,
		[ZYDIS_MNEMONIC_LEA] = LODE_OPERATION_ADDRESS,
		[ZYDIS_MNEMONIC_LEAVE] = LODE_OPERATION_LEAVE,
		[ZYDIS_MNEMONIC_MOV] = LODE_OPERATION_MOVE,
		[ZYDIS_MNEMONIC_MOVSX] = LODE_OPERATION_EXTEND_SIGN,
		[ZYDIS_MNEMONIC_MOVSXD] = LODE_OPERATION_EXTEND_SIGN,
		[ZYDIS_MNEMONIC_MUL] = LODE_OPERATION_MULTIPLY_WIDE,
		[ZYDIS_MNEMONIC_NEG] = LODE_OPERATION_NEGATE,
		[ZYDIS_MNEMONIC_NOP] = LODE_OPERATION_NOTHING,
		[ZYDIS_MNEMONIC_NOT] = LODE_OPERATION_COMPLEMENT,
		[ZYDIS_MNEMONIC_OR] = LODE_OPERATION_OR,
		[ZYDIS_MNEMONIC_POP] = LODE_OPERATION_POP,
		[ZYDIS_MNEMONIC_POPF] = LODE_OPERATION_POP_FLAGS,
		[ZYDIS_MNEMONIC_POPFQ] = LODE_OPERATION_POP_FLAGS,
		[ZYDIS_MNEMONIC_PUSH] = LODE_OPERATION_PUSH,
		[ZYDIS_MNEMONIC_PUSHF] = LODE_OPERATION_PUSH_FLAGS,
		[ZYDIS_MNEMONIC_PUSHFQ] = LODE_OPERATION_PUSH_FLAGS,
		[ZYDIS_MNEMONIC_PXOR] = LODE_OPERATION_XOR,
		[ZYDIS_MNEMONIC_RET] = LODE_OPERATION_RETURN,
		[ZYDIS_MNEMONIC_ROL] = LODE_OPERATION_ROTATE_LEFT,
		[ZYDIS_MNEMONIC_ROR] = LODE_OPERATION_ROTATE_RIGHT,
		[ZYDIS_MNEMONIC_SAR] = LODE_OPERATION_SHIFT_RIGHT_SIGNED,
		[ZYDIS_MNEMONIC_SBB] = LODE_OPERATION_SUBTRACT_BORROW,
		[ZYDIS_MNEMONIC_SHL] = LODE_OPERATION_SHIFT_LEFT,
		[ZYDIS_MNEMONIC_SHR] = LODE_OPERATION_SHIFT_RIGHT,
		[ZYDIS_MNEMONIC_SUB] = LODE_OPERATION_SUBTRACT,
		[ZYDIS_MNEMONIC_TEST] = LODE_OPERATION_TEST,
		[ZYDIS_MNEMONIC_UD0] = LODE_OPERATION_STOP,
		[ZYDIS_MNEMONIC_UD1] = LODE_OPERATION_STOP,
		[ZYDIS_MNEMONIC_UD2] = LODE_OPERATION_STOP,
		[ZYDIS_MNEMONIC_XCHG] = LODE_OPERATION_EXCHANGE,
		[ZYDIS_MNEMONIC_XOR] = LODE_OPERATION_XOR,
		[ZYDIS_MNEMONIC_XORPS] = LODE_OPERATION_XOR,
	};

	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CMOV:
		return LODE_OPERATION_MOVE_IF;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return LODE_OPERATION_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return LODE_OPERATION_JUMP_IF;
	default:
		break;
	}
	/* imul to rdx:rax */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_IMUL && instruction->operand_count_visible < 2)
		return LODE_OPERATION_OTHER;
	return (LodeOperation)operations[instruction->mnemonic];
}

static int8_t address_register(ZydisRegister name)
{
	if (name == ZYDIS_REGISTER_NONE)
		return LODE_NO_REGISTER;
	int number = lode_general_register(name);

	return number >= 0 ? (int8_t)number : LODE_OTHER_REGISTER;
}

static uint64_t bit_of(int number)
{
	return number < 0 ? 0 : LODE_BIT(number);
}

static void read_register(LodeEffectOperand *self, ZydisRegister name)
{
	int number = name == ZYDIS_REGISTER_RFLAGS ? LODE_NO_REGISTER : lode_general_register(name);

	self->kind = LODE_OPERAND_OTHER;
	if (number >= 0) {
		self->kind = LODE_OPERAND_REGISTER;
		self->number = (int8_t)number;
		self->is_high = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
	} else if (name != ZYDIS_REGISTER_RFLAGS) {
		ZydisRegister whole = ZydisRegisterGetLargestEnclosing(
			ZYDIS_MACHINE_MODE_LONG_64, name);

		if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31) {
			self->kind = LODE_OPERAND_VECTOR;
			self->number = (int8_t)(whole - ZYDIS_REGISTER_ZMM0);
		}
	}
}

static LodeEffectOperand read_operand(const ZydisDecodedOperand *operand)
{
	LodeEffectOperand read = {.number = LODE_NO_REGISTER,
		.base = LODE_NO_REGISTER,
		.index = LODE_NO_REGISTER,
		.bits = operand->size,
		.is_read = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
		.is_written = lode_operand_is_written(operand)};

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		read_register(&read, operand->reg.value);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		read.kind = LODE_OPERAND_CONSTANT;
		read.constant = operand->imm.value.s;
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		read.kind = LODE_OPERAND_MEMORY;
		read.is_access = operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
		read.base = address_register(operand->mem.base);
		read.index = address_register(operand->mem.index);
		read.scale = operand->mem.scale;
		read.segment = operand->mem.segment == ZYDIS_REGISTER_FS   ? LODE_SEGMENT_FS
		               : operand->mem.segment == ZYDIS_REGISTER_GS ? LODE_SEGMENT_GS
		                                                           : LODE_SEGMENT_NONE;
		read.constant = operand->mem.disp.value;
		break;
	default:
		read.kind = LODE_OPERAND_OTHER;
		break;
	}
	return read;
}

static void add_operand(LodeInstructionEffect *self, const ZydisDecodedOperand *operand)
{
	const LodeEffectOperand read = read_operand(operand);
	int number = read.kind == LODE_OPERAND_VECTOR ? LODE_EFFECT_VECTORS + read.number
	                                              : read.number;

	self->reads |= bit_of(read.base) | bit_of(read.index);
	if (read.is_read)
		self->reads |= bit_of(number);
	if (read.is_written)
		self->writes |= bit_of(number);
	if (self->n < LODE_MAX_EFFECT_OPERANDS)
		self->operands[self->n++] = read;
}

/* Of the first `n` operands. */
static void read_effect(LodeInstructionEffect *self, const ZydisDecodedInstruction *instruction,
	const ZydisDecodedOperand *operands, unsigned n)
{
	*self = (LodeInstructionEffect){
		.operation = (uint8_t)lode_instruction_operation(instruction),
		.length = instruction->length,
		.n_visible = MIN(instruction->operand_count_visible, LODE_MAX_EFFECT_OPERANDS),
		.address_bits = instruction->address_width,
	};
	for (unsigned i = 0; i < n; i++)
		add_operand(self, &operands[i]);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_INC ||
		instruction->mnemonic == ZYDIS_MNEMONIC_DEC) {
		self->keeps_carry = true;
		self->n = self->n_visible = 2;
		self->operands[1] = (LodeEffectOperand){.kind = LODE_OPERAND_CONSTANT,
			.number = LODE_NO_REGISTER,
			.bits = operands[0].size,
			.is_read = true,
			.constant = instruction->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1};
	}
}

void lode_instruction_effect_of(LodeInstructionEffect *self, const LodeFullInstruction *full)
{
	read_effect(self, &full->instruction, full->operands, full->instruction.operand_count);
}

bool lode_instruction_effect_decode(LodeInstructionEffect *self, const uint8_t *code, size_t size)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	*self = (LodeInstructionEffect){.operation = LODE_OPERATION_OTHER};
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code,
		    MIN(size, ZYDIS_MAX_INSTRUCTION_LENGTH), &instruction)))
		return false;
	/* one hidden operand alone is mostly the flags, and takes long to decode */
	uint8_t n = instruction.operand_count;
	if (n - instruction.operand_count_visible <= 1)
		n = instruction.operand_count_visible;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeOperands(&decoder, &context, &instruction, operands, n)))
		return false;
	read_effect(self, &instruction, operands, n);
	return true;
}

bool lode_effect_is_of_itself(const LodeInstructionEffect *self)
{
	const LodeEffectOperand *first = &self->operands[0], *second = &self->operands[1];

	return (first->kind == LODE_OPERAND_REGISTER || first->kind == LODE_OPERAND_VECTOR) &&
	       second->kind == first->kind && second->number == first->number &&
	       second->bits == first->bits && second->is_high == first->is_high;
}

unsigned lode_effect_stack_bytes(const LodeInstructionEffect *self)
{
	for (unsigned i = self->n; i-- > self->n_visible;)
		if (self->operands[i].kind == LODE_OPERAND_MEMORY)
			return self->operands[i].bits / 8u;
	return 0;
}
