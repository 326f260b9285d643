/* SPDX-License-Identifier: MIT */
/* What a simulation wants to know of each block, side by side, so that it need not look into the
 * dictionary for every invocation. */
#pragma once

#include "traces/trace_frame.h"

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

/* Of a fetch or data reference of `size` bytes: the last byte that is looked up, from the first. */
uint16_t lode_access_extent(uint32_t size);
