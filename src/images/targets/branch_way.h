/* SPDX-License-Identifier: MIT */
/*
 * Where a jump or call leads, by the general registers and flags of the thread just before it: as
 * at a breakpoint on it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	const uint64_t *registers; /* 16, in the order of their encoding: rax, rcx, rdx, rbx … */
	uint64_t flags;            /* RFLAGS */
	/* Reads eight bytes of the thread's memory, for targets that lie there; NULL: none are
	 * known. False: they cannot be read. */
	bool (*read_word)(void *data, uint64_t address, uint64_t *out_word);
	void *data;
} LodeBranchState;

/*
 * The next instruction's address. `address` is the run-time one of these bytes. False: they are no
 * jump or call, or where it leads is not known, as of a return, of a target that lies in the stack
 * or relative to a segment, and of code that does not decode.
 */
bool lode_branch_way(const uint8_t *code, size_t size, uint64_t address,
	const LodeBranchState *state, uint64_t *out_target);
