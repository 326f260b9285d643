/* SPDX-License-Identifier: MIT */
/* The state from which addresses are predicted. */
#include "traces/slots/slot_predictor.h"

#include <string.h>

/* The number of the last thread + 1. */
static uint32_t count_threads(const LodeTraceFrame *frame)
{
	uint32_t n = 0;

	for (size_t i = 0; i < frame->n_switches; i++)
		n = MAX(n, frame->switches[i].thread + 1U);
	return n;
}

void lode_slot_predictor_init(LodeSlotPredictor *self, uint32_t n_slots,
	const LodeTraceFrame *frame, uint64_t n_addresses)
{
	unsigned bits = MAX(g_bit_storage(n_addresses), LODE_SLOT_MIN_BITS);

	self->stack_bits = (uint8_t)MIN(bits, LODE_SLOT_MAX_STACK_BITS);
	self->content_bits = (uint8_t)MIN(bits, LODE_SLOT_MAX_CONTENT_BITS);
	self->n_threads = count_threads(frame);
	self->slots = g_new0(LodeSlotState, n_slots + 1U);
	self->n_slots = n_slots;
	self->stack_steps = g_new0(uint64_t, (size_t)1 << self->stack_bits);
	self->contents = g_new0(uint64_t, (size_t)1 << self->content_bits);
	self->places = g_new0(LodeThreadPlace, self->n_threads + 1U);
}

void lode_slot_predictor_clear(LodeSlotPredictor *self)
{
	g_free(self->slots);
	g_free(self->stack_steps);
	g_free(self->contents);
	g_free(self->places);
	*self = (LodeSlotPredictor){0};
}

void lode_slot_predictor_rewind(LodeSlotPredictor *self)
{
	for (uint32_t i = 0; i < self->n_slots; i++) {
		LodeSlotState *state = &self->slots[i];
		bool is_far = state->slot_class == LODE_SLOT_UNASSIGNED ||
		              state->slot_class == LODE_SLOT_STRIDE;

		state->last = state->before = is_far ? state->constant : 0;
	}
	memset(self->stack_steps, 0, sizeof(uint64_t) << self->stack_bits);
	memset(self->contents, 0, sizeof(uint64_t) << self->content_bits);
	memset(self->places, 0, self->n_threads * sizeof(LodeThreadPlace));
}
