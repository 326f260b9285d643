/* SPDX-License-Identifier: MIT */
/*
 * Says where a return goes: to the block that followed when last a call from that place returned.
 *
 *   call ──▶ callee … return ──▶ the block after the call
 *
 * For each thread a ring of the blocks that called and were not returned to; a call that is pushed
 * out of it is not predicted any more. Private to traces/.
 */
#pragma once

#include "traces/frames/frame_layout.h"

enum { LODE_RETURN_STACK_SIZE = 64, LODE_RETURN_STACK_SEARCH = 8 };

typedef struct {
	uint32_t top; /* index of the entry above the last */
	uint32_t n;
	uint32_t calls[LODE_RETURN_STACK_SIZE]; /* blocks */
} LodeReturnStack;

static inline void lode_return_stack_push(LodeReturnStack *self, uint32_t block)
{
	self->calls[self->top++ % LODE_RETURN_STACK_SIZE] = block;
	self->n = MIN(self->n + 1, LODE_RETURN_STACK_SIZE);
}

/* The block that called last; UINT32_MAX: none is known. */
static inline uint32_t lode_return_stack_last(const LodeReturnStack *self)
{
	return self->n > 0 ? self->calls[(self->top - 1) % LODE_RETURN_STACK_SIZE] : UINT32_MAX;
}

/* A return to an address: removes the call before it, and later calls; gives that call's block, or
 * UINT32_MAX when it is not one of the last ones, which stay. */
static inline uint32_t lode_return_stack_pop(
	LodeReturnStack *self, const LodeFrameBlock *blocks, uint64_t address)
{
	for (uint32_t i = 1; i <= self->n && i <= LODE_RETURN_STACK_SEARCH; i++) {
		uint32_t call = self->calls[(self->top - i) % LODE_RETURN_STACK_SIZE];

		if (blocks[call].end == address) {
			self->top -= i;
			self->n -= i;
			return call;
		}
	}
	return UINT32_MAX;
}
