/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: carries registers over one instruction, forward. The operands that an
 * instruction writes, hidden ones too, first become unknown, as Zydis lists them; then results that
 * can be computed are written. So an instruction that is not known here only makes its results
 * unknown. One that writes memory in a way not known here makes the whole stack unknown.
 */
#pragma once

#include "images/instructions/memory_operands.h"
#include "images/registers/stack_memory.h"

typedef enum {
	LODE_STEP_ON,       /* to the address that follows, or is jumped to */
	LODE_STEP_COMPUTED, /* the same, by a register or the stack: may lie outside the image */
	LODE_STEP_BLOCKED,  /* return, indirect jump or call to where is not known, system call,
	                       trap */
	LODE_STEP_LOST,     /* a conditional jump by flags or a register not known */
} LodeStep;

/* The instruction makes no access that counts. On LODE_STEP_ON and _COMPUTED *out_next is the
 * image's address of what runs next. */
LodeStep lode_forward_emulate(const LodeFullInstruction *full, LodeRegisterState *state,
	LodeStackMemory *stack, uint64_t *out_next);
