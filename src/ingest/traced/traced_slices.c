/* SPDX-License-Identifier: MIT */
#include "ingest/traced/traced_slices.h"

void lode_traced_slices_init(
	LodeTracedSlices *self, const LodeTraceFrame *frame, const LodeTracedPlaces *places)
{
	*self = (LodeTracedSlices){
		.frame = frame,
		.places = places,
		.switches = g_array_new(FALSE, FALSE, sizeof(LodeTraceSwitch)),
		.reference = frame->first_reference,
		.instruction = frame->first_instruction,
	};
}

void lode_traced_slices_clear(LodeTracedSlices *self)
{
	g_clear_pointer(&self->switches, g_array_unref);
}

static void begin(LodeTracedSlices *self)
{
	self->slice = (LodeTraceFrame){
		.dictionary = self->frame->dictionary,
		.first_new_block = self->frame->first_new_block,
		.n_blocks = self->frame->n_blocks,
		.first_reference = self->reference,
		.first_instruction = self->instruction,
		.blocks = self->frame->blocks + self->invocation,
		.addresses = self->frame->addresses + self->address,
	};
	g_array_set_size(self->switches, 0);
}

static void add_switch(LodeTracedSlices *self, size_t begin_invocation)
{
	const LodeTraceFrame *frame = self->frame;
	bool is_switch = self->next_switch < frame->n_switches &&
	                 frame->switches[self->next_switch].invocation == self->invocation;

	if (is_switch)
		self->thread = frame->switches[self->next_switch++].thread;
	if (!is_switch && self->invocation != begin_invocation)
		return;
	const LodeTraceSwitch added = {
		(uint32_t)(self->invocation - begin_invocation), self->thread};
	g_array_append_val(self->switches, added);
}

static void add_invocation(LodeTracedSlices *self)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, self->frame->blocks[self->invocation]);
	uint64_t n_references = (uint64_t)block->n_instructions + block->n_slots;

	self->slice.n_invocations++;
	self->slice.n_addresses += block->n_slots;
	self->slice.n_references += n_references;
	self->slice.n_instructions += block->n_instructions;
	self->invocation++;
	self->address += block->n_slots;
	self->reference += n_references;
	self->instruction += block->n_instructions;
}

const LodeTraceFrame *lode_traced_slices_next(LodeTracedSlices *self)
{
	const LodeTraceFrame *frame = self->frame;
	size_t first = self->invocation;
	uint64_t change = lode_traced_places_next_change(self->places, self->reference);

	if (first == frame->n_invocations)
		return NULL;
	if (first == 0 && change - self->reference >= frame->n_references) {
		self->invocation = frame->n_invocations;
		return frame;
	}
	begin(self);
	do {
		add_switch(self, first);
		add_invocation(self);
	} while (self->invocation < frame->n_invocations && self->reference < change);
	self->slice.switches = (LodeTraceSwitch *)self->switches->data;
	self->slice.n_switches = self->switches->len;
	return &self->slice;
}
