/* SPDX-License-Identifier: MIT */
/* A frame in shorter pieces. */
#include "caches/frame_slices.h"

void lode_frame_slices_init(LodeFrameSlices *self, const LodeTraceFrame *frame)
{
	*self = (LodeFrameSlices){
		.slice = *frame,
		.frame = frame,
		.switches = g_array_new(FALSE, FALSE, sizeof(LodeTraceSwitch)),
	};
	self->slice.n_invocations = 0;
	self->slice.n_addresses = 0;
	self->slice.n_references = 0;
	self->slice.n_instructions = 0;
}

void lode_frame_slices_clear(LodeFrameSlices *self)
{
	if (self->switches != NULL)
		g_array_unref(self->switches);
	self->switches = NULL;
}

/* Where the piece before ended. */
static void step(LodeFrameSlices *self)
{
	LodeTraceFrame *slice = &self->slice;

	slice->first_reference += slice->n_references;
	slice->first_instruction += slice->n_instructions;
	if (slice->n_invocations > 0) {
		slice->blocks += slice->n_invocations;
		slice->first_new_block = slice->n_blocks;
	}
	if (slice->n_addresses > 0)
		slice->addresses += slice->n_addresses;
	slice->n_invocations = 0;
	slice->n_addresses = 0;
	slice->n_references = 0;
	slice->n_instructions = 0;
}

static void add_invocation(LodeTraceFrame *slice)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		slice->dictionary, slice->blocks[slice->n_invocations++]);

	slice->n_addresses += block->n_slots;
	slice->n_instructions += block->n_instructions;
	slice->n_references += (uint64_t)block->n_instructions + block->n_slots;
}

/* Adds the switches between the first and the end, and at the first the thread that continues. */
static void add_switches(LodeFrameSlices *self, size_t first, size_t end)
{
	const LodeTraceFrame *frame = self->frame;
	LodeTraceSwitch begin = {0, self->thread};

	g_array_set_size(self->switches, 0);
	if (self->next_switch >= frame->n_switches ||
		frame->switches[self->next_switch].invocation > first)
		g_array_append_val(self->switches, begin);
	for (; self->next_switch < frame->n_switches &&
		frame->switches[self->next_switch].invocation < end;
		self->next_switch++) {
		LodeTraceSwitch at = frame->switches[self->next_switch];

		at.invocation -= (uint32_t)first;
		self->thread = at.thread;
		g_array_append_val(self->switches, at);
	}
	self->slice.switches = (LodeTraceSwitch *)(void *)self->switches->data;
	self->slice.n_switches = self->switches->len;
}

const LodeTraceFrame *lode_frame_slices_next(LodeFrameSlices *self, uint64_t n_references)
{
	LodeTraceFrame *slice = &self->slice;

	step(self);
	size_t first = (size_t)(slice->blocks - self->frame->blocks);
	if (first == self->frame->n_invocations)
		return NULL;
	if (first == 0 && self->frame->n_references <= n_references) {
		slice->n_invocations = self->frame->n_invocations;
		slice->n_addresses = self->frame->n_addresses;
		slice->n_references = self->frame->n_references;
		slice->n_instructions = self->frame->n_instructions;
	}
	while (first + slice->n_invocations < self->frame->n_invocations &&
		slice->n_references < n_references)
		add_invocation(slice);
	add_switches(self, first, first + slice->n_invocations);
	return slice;
}
