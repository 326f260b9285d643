/* SPDX-License-Identifier: MIT */
/*
 * The data of each block that a simulation needs, side by side, so that it need not look into the
 * dictionary for every invocation, and the iteration over the invocations of a frame.
 * Private to caches/.
 */
#pragma once

#include "traces/frames/trace_frame.h"

typedef struct {
	uint16_t extent;     /* the last byte of the access, from the first one */
	uint8_t instruction; /* in the block */
	uint8_t kind;        /* LodeReferenceKind */
} LodePlanSlot;

typedef struct {
	uint64_t first, last; /* bytes of the instructions */
	uint32_t first_slot;  /* in the slots of all plans */
	uint8_t n_instructions, n_slots, n_stores, n_modifies;
	bool is_odd; /* an instruction without a size, too large, or around the end of memory */
} LodeBlockPlan;

typedef struct {
	LodeBlockDictionary *dictionary; /* a reference; NULL: none yet */
	GArray *plans;                   /* LodeBlockPlan, by block */
	GArray *slots;                   /* LodePlanSlot */
} LodeBlockPlans;

void lode_block_plans_init(LodeBlockPlans *self);
void lode_block_plans_clear(LodeBlockPlans *self);

/* Plans of all blocks that a frame may use. */
void lode_block_plans_add(LodeBlockPlans *self, const LodeTraceFrame *frame);

static inline const LodeBlockPlan *lode_block_plans_at(const LodeBlockPlans *self, uint32_t block)
{
	return &g_array_index(self->plans, LodeBlockPlan, block);
}

/* The last byte that is looked up for a fetch or data reference of `size` bytes, from the first. */
uint16_t lode_access_extent(uint32_t size);

/* The position of a simulation in a frame; it counts the references passed. */
typedef struct {
	const LodeTraceFrame *frame;
	const LodeBlockPlans *plans;
	size_t invocation;
	size_t address;     /* of the invocation's first data reference, in the frame */
	size_t next_switch; /* of threads */
	uint64_t reference; /* the invocation's first, in the frame */
	uint16_t thread;
	uint64_t n_stores, n_modifies;
} LodeFrameWalk;

/* To the first invocation; plans are of this frame too. Both are borrowed. The thread stays: a
 * frame goes on where the one before ended. */
static inline void lode_frame_walk_begin(
	LodeFrameWalk *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans)
{
	*self = (LodeFrameWalk){.frame = frame, .plans = plans, .thread = self->thread};
}

static inline const LodeBlockPlan *lode_frame_walk_plan(const LodeFrameWalk *self)
{
	return lode_block_plans_at(self->plans, self->frame->blocks[self->invocation]);
}

static inline const LodePlanSlot *lode_frame_walk_slots(
	const LodeFrameWalk *self, const LodeBlockPlan *plan)
{
	return &g_array_index(self->plans->slots, LodePlanSlot, plan->first_slot);
}

/* The thread of the invocation. */
static inline uint16_t lode_frame_walk_thread(LodeFrameWalk *self)
{
	const LodeTraceFrame *frame = self->frame;

	while (self->next_switch < frame->n_switches &&
		frame->switches[self->next_switch].invocation <= self->invocation)
		self->thread = frame->switches[self->next_switch++].thread;
	return self->thread;
}

/* On to the next invocation. */
static inline void lode_frame_walk_advance(LodeFrameWalk *self, const LodeBlockPlan *plan)
{
	self->invocation++;
	self->address += plan->n_slots;
	self->reference += (uint64_t)plan->n_instructions + plan->n_slots;
	self->n_stores += plan->n_stores;
	self->n_modifies += plan->n_modifies;
}

/* Adds the references that were walked over, by kind. */
static inline void lode_frame_walk_count(
	const LodeFrameWalk *self, uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	totals[LODE_REFERENCE_FETCH] += self->reference - self->address;
	totals[LODE_REFERENCE_LOAD] += self->address - self->n_stores - self->n_modifies;
	totals[LODE_REFERENCE_STORE] += self->n_stores;
	totals[LODE_REFERENCE_MODIFY] += self->n_modifies;
}
