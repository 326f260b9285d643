/* SPDX-License-Identifier: MIT */
/*
 * The data of a frame's blocks that coding and decoding read most, close together in memory:
 *
 *   block 17   400510…400523   3 slots from 41 on   invoked 1500 times
 *
 * Slots are numbered through all blocks that the frame invokes, by block and position.
 * Private to traces/.
 */
#pragma once

#include "traces/frames/trace_frame.h"

typedef struct {
	uint64_t address, end; /* of the instructions */
	uint32_t n_invocations;
	uint32_t first_slot;
	uint8_t n_slots;
	bool is_call, is_return; /* its last access is a store, or a load, of its last
	                            instruction: as a call or return makes on some processors */
} LodeFrameBlock;

typedef struct {
	LodeFrameBlock *blocks; /* owned; × n_blocks, the whole dictionary */
	uint32_t n_blocks;
	uint32_t n_slots;     /* of all blocks with invocations */
	uint64_t n_addresses; /* of all invocations */
} LodeFrameLayout;

/* Makes the layout of the first `n_blocks` blocks, without invocations. */
void lode_frame_layout_init(
	LodeFrameLayout *self, const LodeBlockDictionary *dictionary, uint32_t n_blocks);
void lode_frame_layout_clear(LodeFrameLayout *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFrameLayout, lode_frame_layout_clear)

/* Counts the invocations and numbers the slots. */
void lode_frame_layout_count(LodeFrameLayout *self, const uint32_t *blocks, size_t n);

/* A piece of a frame in which one thread runs. */
typedef struct {
	size_t first, end; /* invocations */
	uint16_t thread;
} LodeThreadRun;

/* The run that begins with the switch of this number; false after the last. */
static inline bool lode_thread_run_at(
	const LodeTraceFrame *frame, size_t number, LodeThreadRun *out_run)
{
	if (number >= frame->n_switches)
		return false;
	out_run->first = frame->switches[number].invocation;
	out_run->end = number + 1 < frame->n_switches ? frame->switches[number + 1].invocation
	                                              : frame->n_invocations;
	out_run->thread = frame->switches[number].thread;
	return true;
}
