/* SPDX-License-Identifier: MIT */
/*
 * The decoded code of one function, as far as it executed: the code and the block of each
 * instruction, and these blocks. Private to ingest/join/.
 *
 * Where executions are inferred, functions are decoded for the inference; the result is kept for
 * the step that decodes.
 */
#pragma once

#include "ingest/join/join.h"

typedef struct LodeBlock LodeBlock;

typedef struct {
	uint32_t image;
	uint64_t address;      /* of the function */
	uint32_t n, n_blocks;  /* n 0: not decoded */
	uint64_t *addresses;   /* [n], ascending */
	LodeJoinCode *codes;   /* [n] */
	uint32_t *code_blocks; /* [n]: numbers of `blocks`; LODE_NONE: in none */
	LodeBlock *blocks;     /* without their function and count */
} LodeJoinFunctionCode;

/* The bytes that a control flow was built from; borrowed. */
typedef struct {
	const uint8_t *code;
	size_t size;
	uint64_t address;
} LodeJoinFunctionBytes;

/* Takes the code of n instructions, whose addresses ascend, from the control flow. An instruction
 * that linear decoding skipped (a jump after a prefix) is decoded alone. */
void lode_join_function_code_take(LodeJoinFunctionCode *self, const LodeControlFlow *flow,
	const LodeJoinFunctionBytes *bytes, const uint64_t *addresses, uint32_t n);
void lode_join_function_code_clear(LodeJoinFunctionCode *self);
