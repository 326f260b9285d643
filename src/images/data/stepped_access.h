/* SPDX-License-Identifier: MIT */
/*
 * The accesses of an instruction whose registers are known just before it, as in a step of a
 * window: all of its operands in memory, those of the stack that no operand shows too (push, pop,
 * call, ret, enter, leave). Nothing is guessed.
 */
#pragma once

#include "images/data/data_access.h"

enum { LODE_MAX_STEPPED_OPERANDS = LODE_MAX_DATA_OPERANDS + 1 };

typedef struct {
	LodeDataOperand operands[LODE_MAX_STEPPED_OPERANDS]; /* in the decoder's order; that of the
	                                                        stack last */
	uint8_t n_operands;
	bool is_stack;            /* the last of them is that of the stack, and has no number */
	LodeAddressReason reason; /* NONE: all are there; else why it is not known where one more
	                             goes: by a register of vectors (gather, scatter), or relative
	                             to gs, or to fs whose base is not known */
	LodeDataOperand unknown;  /* that one, without its address */
} LodeSteppedAccess;

/* The general registers in the order of their encoding, and the base of fs; 0: it is not known. */
void lode_user_registers_of_step(
	LodeUserRegisters *out_registers, const uint64_t *values, uint64_t thread_pointer);

/*
 * Reads the accesses of the instruction in these bytes, which lie at an address of the image;
 * `bias` is added for the run-time one. A repeated string instruction has those of its next round,
 * and none where no round is left. False: it cannot be decoded.
 */
bool lode_stepped_access_read(LodeSteppedAccess *out_access, const uint8_t *code, size_t size,
	uint64_t address, uint64_t bias, const LodeUserRegisters *registers);
