/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: one decoded instruction with all operands, hidden ones too, as all who follow
 * what instructions do take it: registers' values forward and backward, and registers' types.
 */
#pragma once

#include <Zydis/Zydis.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address; /* in the image */
	uint64_t bias; /* run-time address − address in the image; 0 where only the image counts */
} LodeFullInstruction;

/* Decodes what stands at `address` of the image. False: not an instruction, or cut short. */
bool lode_full_instruction_decode(
	LodeFullInstruction *self, const uint8_t *code, size_t size, uint64_t address);

/* Whether it runs as often as a register says: a prefix rep, repe or repne. */
bool lode_full_instruction_is_repeated(const LodeFullInstruction *self);

/* Whether it is a push, pop, call, ret or leave. */
bool lode_full_instruction_moves_stack(const LodeFullInstruction *self);

/* The bytes by which push, pop, call, ret and leave move the stack pointer: the size of their
 * hidden operand in memory. 0: none. */
uint64_t lode_full_instruction_stack_bytes(const LodeFullInstruction *self);

/* The number of the general register that `name` is a part of, as they are encoded; −1: it is not a
 * part of one. */
int lode_general_register(ZydisRegister name);

/* The same of an operand; −1 also where it is not a register. */
int lode_operand_register(const ZydisDecodedOperand *operand);

static inline bool lode_operand_is_written(const ZydisDecodedOperand *operand)
{
	return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}
