/* SPDX-License-Identifier: MIT */
/* The data of a frame's blocks that coding and decoding read most. */
#include "traces/frames/frame_layout.h"

static LodeFrameBlock summary(const LodeTraceBlock *block)
{
	LodeFrameBlock result = {.address = block->address,
		.end = block->address + block->n_bytes,
		.n_slots = block->n_slots};
	const LodeTraceSlot *last;

	if (block->n_slots == 0 || block->n_instructions == 0)
		return result;
	last = &block->slots[block->n_slots - 1U];
	if (last->instruction != block->n_instructions - 1)
		return result;
	result.is_call = last->kind == LODE_REFERENCE_STORE;
	result.is_return = last->kind == LODE_REFERENCE_LOAD;
	return result;
}

void lode_frame_layout_init(
	LodeFrameLayout *self, const LodeBlockDictionary *dictionary, uint32_t n_blocks)
{
	self->blocks = g_new(LodeFrameBlock, n_blocks);
	self->n_blocks = n_blocks;
	self->n_slots = 0;
	self->n_addresses = 0;
	for (uint32_t i = 0; i < n_blocks; i++)
		self->blocks[i] = summary(lode_block_dictionary_at(dictionary, i));
}

void lode_frame_layout_clear(LodeFrameLayout *self)
{
	g_free(self->blocks);
	*self = (LodeFrameLayout){0};
}

void lode_frame_layout_count(LodeFrameLayout *self, const uint32_t *blocks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		self->blocks[blocks[i]].n_invocations++;
	for (uint32_t i = 0; i < self->n_blocks; i++) {
		LodeFrameBlock *block = &self->blocks[i];

		block->first_slot = self->n_slots;
		if (block->n_invocations > 0)
			self->n_slots += block->n_slots;
		self->n_addresses += (uint64_t)block->n_invocations * block->n_slots;
	}
}
