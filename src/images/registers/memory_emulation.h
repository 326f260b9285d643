/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: emulates one instruction that may access memory, on registers and the
 * known memory. A loaded value is known where the memory is: in the dump of the stack, or written
 * by code that was followed. A store to an address that is not known makes all memory unknown.
 */
#pragma once

#include "images/registers/forward_emulation.h"

/* Whether an instruction writes memory, by an operand or in another way. */
bool lode_memory_is_written(const LodeFullInstruction *full);

/* Where it writes, if it does, with the registers before it; size 0: anywhere. */
LodeStackWrite lode_memory_write_of(
	const LodeFullInstruction *full, const LodeRegisterState *before);

/* As lode_forward_emulate. On LODE_STEP_LOST and _BLOCKED the registers that the instruction writes
 * are unknown; string instructions give LODE_STEP_LOST, and go on below. */
LodeStep lode_memory_emulate(const LodeFullInstruction *full, LodeRegisterState *state,
	LodeStackMemory *memory, uint64_t *out_next);
