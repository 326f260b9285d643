/* SPDX-License-Identifier: MIT */
/*
 * Which blocks may follow a block in a frame, the most frequent first, and which one a return is
 * expected to go to:
 *
 *   block 17 ─┬─▶ 0: block 18
 *             └─▶ 1: block 4          17 as a return: where the last call came from
 *
 * Where there is but one, nothing needs to be written of the sequence. Private to traces/.
 */
#pragma once

#include "traces/blocks/return_stack.h"

typedef struct {
	uint32_t first_edge, n_edges; /* of the targets */
	bool is_guessed;              /* by the return stack */
} LodeFlowNode;

typedef struct {
	uint32_t last_block; /* UINT32_MAX: the thread has not begun */
	LodeReturnStack returns;
} LodeThreadFlow;

typedef struct {
	const LodeFrameLayout *layout; /* borrowed */
	LodeFlowNode *nodes;           /* owned; by block */
	uint32_t *targets;             /* owned; blocks, by node and rank */
	uint32_t n_targets;
	uint32_t *returns_to; /* owned; by calling block: the block where a return went; UINT32_MAX
	                         where none is known */
	GPtrArray *threads;   /* of LodeThreadFlow, by number; NULL: not begun */
} LodeBlockFlow;

void lode_block_flow_init(LodeBlockFlow *self, const LodeFrameLayout *layout);
void lode_block_flow_clear(LodeBlockFlow *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeBlockFlow, lode_block_flow_clear)

/* Forgets the learned state of the threads and the targets of returns. */
void lode_block_flow_rewind(LodeBlockFlow *self);

LodeThreadFlow *lode_block_flow_thread(LodeBlockFlow *self, uint16_t thread);

/* Where a thread that is at a guessed block is expected to go; UINT32_MAX: nowhere. */
static inline uint32_t lode_block_flow_guess(
	const LodeBlockFlow *self, const LodeThreadFlow *thread)
{
	uint32_t call = lode_return_stack_last(&thread->returns);

	return call == UINT32_MAX ? UINT32_MAX : self->returns_to[call];
}

/* The thread, which has begun, goes on to a block. */
static inline void lode_block_flow_advance(
	LodeBlockFlow *self, LodeThreadFlow *thread, uint32_t next)
{
	const LodeFrameBlock *blocks = self->layout->blocks;
	uint32_t last = thread->last_block;

	if (self->nodes[last].is_guessed) {
		uint32_t call = lode_return_stack_pop(
			&thread->returns, blocks, blocks[next].address);

		if (call != UINT32_MAX)
			self->returns_to[call] = next;
	} else if (blocks[last].is_call && blocks[next].address != blocks[last].end) {
		lode_return_stack_push(&thread->returns, last);
	}
	thread->last_block = next;
}
