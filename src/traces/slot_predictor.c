/* SPDX-License-Identifier: MIT */
/* What guesses of addresses are made from. */
#include "traces/slot_predictor.h"

#include <string.h>

static const size_t STACK_BYTES = sizeof(uint64_t) << LODE_SLOT_STACK_BITS;
static const size_t CONTENT_BYTES = sizeof(uint64_t) << LODE_SLOT_CONTENT_BITS;

void lode_slot_predictor_init(LodeSlotPredictor *self, uint32_t n_slots, uint32_t n_threads)
{
	self->slots = g_new0(LodeSlotState, n_slots + 1U);
	self->n_slots = n_slots;
	self->stack_steps = g_malloc0(STACK_BYTES);
	self->contents = g_malloc0(CONTENT_BYTES);
	self->stack_places = g_new0(LodeStackPlace, n_threads + 1U);
	self->n_threads = n_threads;
}

void lode_slot_predictor_clear(LodeSlotPredictor *self)
{
	g_free(self->slots);
	g_free(self->stack_steps);
	g_free(self->contents);
	g_free(self->stack_places);
	*self = (LodeSlotPredictor){0};
}

void lode_slot_predictor_rewind(LodeSlotPredictor *self)
{
	for (uint32_t i = 0; i < self->n_slots; i++) {
		LodeSlotState *state = &self->slots[i];
		bool is_far = state->slot_class == LODE_SLOT_UNASSIGNED ||
		              state->slot_class == LODE_SLOT_STRIDE ||
		              state->slot_class == LODE_SLOT_SUCCESSOR;

		state->last = state->before = is_far ? state->constant : 0;
	}
	memset(self->stack_steps, 0, STACK_BYTES);
	memset(self->contents, 0, CONTENT_BYTES);
	memset(self->stack_places, 0, self->n_threads * sizeof(LodeStackPlace));
}
