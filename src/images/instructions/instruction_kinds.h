/* SPDX-License-Identifier: MIT */
/* Private to images/: what a decoded instruction does, as the attribute namespaces kind and mem. */
#pragma once

#include "images/instructions/instruction_decoder.h"

#include <Zydis/Zydis.h>

/* Which operands have to be decoded before the attributes are known. */
typedef enum {
	LODE_OPERANDS_NONE,
	LODE_OPERANDS_VISIBLE,
	LODE_OPERANDS_ALL, /* string instructions and the like: memory that no operand shows */
} LodeOperandScope;

LodeOperandScope lode_instruction_operand_scope(const ZydisDecodedInstruction *instruction);

bool lode_instruction_is_string(const ZydisDecodedInstruction *instruction); /* ins, outs too */

/* Memory that is neither in ModRM nor the stack of push, pop, call and ret. */
bool lode_instruction_has_implicit_memory(const ZydisDecodedInstruction *instruction);

/* Whether a memory operand in its text is not accessed: lea, nop, prefetches. */
bool lode_instruction_touches_no_memory(const ZydisDecodedInstruction *instruction);

/* The kinds that need no operands. */
uint32_t lode_instruction_kinds(const ZydisDecodedInstruction *instruction, LodeBranch branch);

/* Adds load, store, atomic and simd to decoded->kinds and fills decoded->memory. */
void lode_instruction_add_operands(const ZydisDecodedInstruction *instruction,
	const ZydisDecodedOperand *operands, uint8_t n, bool rbp_is_frame,
	LodeDecodedInstruction *decoded);
