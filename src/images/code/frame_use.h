/* SPDX-License-Identifier: MIT */
/*
 * Instructions of a function that serve its frame alone, by the code alone:
 *
 *   push rbx; sub rsp, 32     enter      makes the frame, saves registers that the caller keeps
 *   mov [rsp+8], rax          save       a register had to be given up: spilled (Chaitin 1982) …
 *   …
 *   add rcx, [rsp+8]          reload     … and its value is read again
 *   add rsp, 32; pop rbx      leave
 *
 * Saves and reloads are of a slot that is always accessed alone, by its address in the frame, with
 * one width, and no pointer is ever made to it nor to any place below it: an array or structure
 * begins where a pointer is made to it, and nothing says how long it is. Compilers put spilled
 * registers below these. Code without optimisation has its variables in such slots, too. It has no
 * saves and reloads here: it is a function in which at least an eighth of the reads of slots are of
 * what a register still holds, or less than a quarter of the blocks use a register that an earlier
 * block has made.
 */
#pragma once

#include "images/code/control_flow.h"

typedef enum {
	LODE_FRAME_USE_NONE,
	LODE_FRAME_USE_ENTER,
	LODE_FRAME_USE_LEAVE,
	LODE_FRAME_USE_SAVE,
	LODE_FRAME_USE_RELOAD,
	LODE_N_FRAME_USES,
} LodeFrameUse;

/* Fills `out` (LodeFrameUse), one for each instruction of the flow, which was built from these
 * bytes. */
void lode_frame_use_find(const LodeControlFlow *flow, const uint8_t *code, size_t size,
	uint64_t address, uint8_t *out);
