/* SPDX-License-Identifier: MIT */
/* The kind of the next instruction for stepping, by its prefixes and opcode alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
	NEXT_PLAIN,
	NEXT_BRANCH, /* may lead elsewhere than to the one after it */
	NEXT_SYSTEM_CALL,
	NEXT_UNSAFE, /* would keep the trap flag in memory, lose it, or delay the trap */
	NEXT_ATOMIC, /* a locked one, or one that waits in a loop around it */
	NEXT_REPEAT, /* traps once for each round */
	NEXT_STATUS, /* reads or writes the flags of MXCSR or of x87 */
} NextInstruction;

/* `n` bytes are readable. */
NextInstruction next_instruction(const uint8_t *code, size_t n);
