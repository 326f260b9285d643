/* SPDX-License-Identifier: MIT */
/* What one must know of an x86-64 instruction to tell its accesses apart, from its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	bool can_follow_itself; /* a branch, a repeated string instruction, a system call */
	bool is_locked;         /* an atomic one: other threads may be told by it */
	bool is_wide;           /* QEMU reports what it accesses in pieces of 8 bytes */
	bool is_call, is_return;
} InstructionTraits;

/* Of an instruction of `n` bytes. */
InstructionTraits instruction_traits(const uint8_t *bytes, size_t n);
