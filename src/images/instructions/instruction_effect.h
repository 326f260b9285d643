/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: what an instruction does, without the names that the architecture has for it:
 * an operation, its operands, and the registers that it reads and writes. Analyses that follow
 * values walk these.
 *
 *   add rax, 8            ADD        rax, 8          inc rax     ADD  rax, 1, the carry flag stays
 *   lea rcx, [rdi+rdx*4]  ADDRESS    rcx, memory     cdqe        EXTEND_SIGN  rax, eax
 */
#pragma once

#include "images/instructions/full_instruction.h"

/* The result goes to operand 0, where there is one; it is computed of operand 0 and operand 1, but
 * where another rule stands here. */
typedef enum {
	LODE_OPERATION_OTHER,
	LODE_OPERATION_NOTHING,
	LODE_OPERATION_MARK,    /* nothing: jumps may lead here */
	LODE_OPERATION_MOVE,    /* of operand 1 */
	LODE_OPERATION_MOVE_IF, /* of operand 1, or it stays */
	LODE_OPERATION_EXTEND_SIGN,
	LODE_OPERATION_ADDRESS, /* of operand 1: not what lies there */
	LODE_OPERATION_EXCHANGE,
	LODE_OPERATION_ADD,
	LODE_OPERATION_ADD_CARRY,
	LODE_OPERATION_SUBTRACT,
	LODE_OPERATION_SUBTRACT_BORROW,
	LODE_OPERATION_COMPARE, /* subtract, for the flags alone */
	LODE_OPERATION_AND,
	LODE_OPERATION_TEST, /* and, for the flags alone */
	LODE_OPERATION_OR,
	LODE_OPERATION_XOR,
	LODE_OPERATION_NEGATE,     /* of operand 0 */
	LODE_OPERATION_COMPLEMENT, /* of operand 0 */
	LODE_OPERATION_SWAP_BYTES, /* of operand 0 */
	LODE_OPERATION_SHIFT_LEFT,
	LODE_OPERATION_SHIFT_RIGHT,
	LODE_OPERATION_SHIFT_RIGHT_SIGNED,
	LODE_OPERATION_ROTATE_LEFT,
	LODE_OPERATION_ROTATE_RIGHT,
	LODE_OPERATION_MULTIPLY,      /* of the last two visible operands */
	LODE_OPERATION_MULTIPLY_WIDE, /* of rax and operand 0, to rdx:rax, without sign */
	LODE_OPERATION_PUSH,
	LODE_OPERATION_PUSH_FLAGS,
	LODE_OPERATION_POP,
	LODE_OPERATION_POP_FLAGS,
	LODE_OPERATION_LEAVE, /* rsp = rbp, and pops rbp */
	LODE_OPERATION_CALL,
	LODE_OPERATION_RETURN,
	LODE_OPERATION_JUMP, /* operand 0: the distance from the next instruction, or where it is */
	LODE_OPERATION_JUMP_IF,
	LODE_OPERATION_STOP, /* nothing follows */
} LodeOperation;

typedef enum {
	LODE_OPERAND_NONE,
	LODE_OPERAND_REGISTER, /* a general one, or a part */
	LODE_OPERAND_VECTOR,
	LODE_OPERAND_CONSTANT,
	LODE_OPERAND_MEMORY,
	LODE_OPERAND_OTHER,
} LodeOperandKind;

typedef enum { LODE_SEGMENT_NONE, LODE_SEGMENT_FS, LODE_SEGMENT_GS } LodeSegment;

enum {
	LODE_NO_REGISTER = -1,
	LODE_OTHER_REGISTER = -2, /* the instruction pointer, or a vector of indices */
	LODE_MAX_EFFECT_OPERANDS = 5,
	LODE_EFFECT_VECTORS = 16, /* the bit of the first vector register, after the general ones */
};

typedef struct {
	uint8_t kind; /* LodeOperandKind */
	bool is_read, is_written;
	bool is_access; /* of memory: not only its address is taken */
	uint16_t bits;
	int8_t number;      /* of a register, as it is encoded; else LODE_NO_REGISTER */
	bool is_high;       /* bits 8 to 15 of a register */
	int8_t base, index; /* of memory, general registers */
	uint8_t scale;
	uint8_t segment;  /* LodeSegment */
	int64_t constant; /* of memory the displacement */
} LodeEffectOperand;

typedef struct {
	uint8_t operation; /* LodeOperation */
	uint8_t length;    /* bytes */
	uint8_t n_visible; /* operands in its text; hidden ones follow */
	uint8_t n;
	uint8_t address_bits;
	bool keeps_carry;       /* of an addition: the carry flag stays */
	uint64_t reads, writes; /* 1 << general register, 1 << (LODE_EFFECT_VECTORS + vector);
	                           reads has those of addresses, too */
	LodeEffectOperand operands[LODE_MAX_EFFECT_OPERANDS];
} LodeInstructionEffect;

void lode_instruction_effect_of(LodeInstructionEffect *self, const LodeFullInstruction *full);

/* The same of the instruction in these bytes. False: it is none, or cut short; then `self` is all
 * 0.
 */
bool lode_instruction_effect_decode(LodeInstructionEffect *self, const uint8_t *code, size_t size);

LodeOperation lode_instruction_operation(const ZydisDecodedInstruction *instruction);

/* Whether operands 0 and 1 are one register or one part of it. */
bool lode_effect_is_of_itself(const LodeInstructionEffect *self);

/* The bytes by which push and pop move the stack pointer; 0: it does not. */
unsigned lode_effect_stack_bytes(const LodeInstructionEffect *self);

/* The general register that an operand is a part of, or LODE_NO_REGISTER. */
static inline int lode_effect_register(const LodeInstructionEffect *self, unsigned operand)
{
	return self->operands[operand].kind == LODE_OPERAND_REGISTER
	               ? self->operands[operand].number
	               : LODE_NO_REGISTER;
}

static inline bool lode_effect_is_constant(const LodeInstructionEffect *self, unsigned operand)
{
	return self->operands[operand].kind == LODE_OPERAND_CONSTANT;
}
