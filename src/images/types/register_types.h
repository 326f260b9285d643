/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the effect of instructions on the known types of registers, and the types at
 * each block of a function.
 *
 *   entry: stack pointer, parameters ──▶ block ──▶ …
 *                                          │   what all predecessors agree on, again until nothing
 *                                          ▼   changes (a block not yet reached agrees with all)
 *   at an instruction: the block's beginning, carried through the instructions before it
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/instructions/full_instruction.h"
#include "images/types/data_place.h"

/* The instruction at an address of the image, with all operands. */
bool lode_register_types_decode(
	LodeFullInstruction *out_full, const LodeElfImage *image, uint64_t address);
/* A memory operand as data_place.h takes it; false: it is none, or of vectors. */
bool lode_register_types_memory(
	const LodeFullInstruction *full, uint8_t operand, LodeMemoryOperand *out_memory);

/* The number of an unknown value: the one that register `number` has at a block's beginning, or
 * (LODE_N_GENERAL_REGISTERS) that the instruction at the address leaves. A copy of a round before,
 * which would have the same number, meets what comes into the loop and loses it. */
uint32_t lode_unknown_of(uint64_t address, int number);

/* Carries `state` over one instruction. */
void lode_register_types_step(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeFullInstruction *full);
/* Adds what the debug information says at an address: variables in registers whose place begins
 * after `since`, and the frame. */
void lode_register_types_learn(const LodeFunctionContext *context, LodeRegisterTypes *state,
	uint64_t since, uint64_t address);
/* Keeps what both agree on; true when `state` changed. */
bool lode_register_types_meet(const LodeFunctionContext *context, LodeRegisterTypes *state,
	const LodeRegisterTypes *other);

/* States at the beginnings of all blocks; free with g_array_unref(). NULL: too large a function. */
GArray *lode_register_types_flow(const LodeFunctionContext *context, const LodeControlFlow *flow);

/* The types known before the instruction at an address. `flow` and `states` may be NULL: then only
 * those of the debug information there. */
void lode_register_types_at(const LodeFunctionContext *context, const LodeControlFlow *flow,
	const GArray *states, uint64_t address, LodeRegisterTypes *out_state);

/* The type that the result of the call which returns to an address is a pointer to, by its use in
 * the straight code that follows: a variable of a pointer type holds it, or it is stored where such
 * a pointer lies. LODE_NO_TYPE. */
uint32_t lode_register_types_returned(const LodeFunctionContext *context,
	const LodeControlFlow *flow, const GArray *states, uint64_t return_address);
