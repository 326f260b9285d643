/* SPDX-License-Identifier: MIT */
/*
 * Most slots are simple: one address, or the last one, is predicted, and nothing else depends on
 * theirs. The simple slots of a block are compared in a loop of their own; the others go through
 * the predictor.
 */
#include "traces/slots/slot_columns.h"

#include "traces/rps/varint.h"
#include "traces/slots/slot_predictor.h"

#include <string.h>

enum {
	PREFETCH_DISTANCE = 4, /* invocations */
	FIRST_ROOM = 1 << 14,
};

typedef struct {
	uint64_t zigzag;
	uint32_t slot, number;
} Residual;

typedef struct {
	uint64_t expected;
	uint32_t slot;
	uint8_t position; /* in the block */
	bool is_last;     /* the last address is expected, else always the same */
} SimpleSlot;

typedef struct {
	uint32_t first_slot, first_simple, first_other;
	uint32_t n_seen; /* invocations */
	uint8_t n_slots, n_simple, n_other;
} BlockPlan;

typedef struct {
	LodeSlotPredictor *predictor;
	BlockPlan *blocks; /* owned, as all below */
	SimpleSlot *simple;
	uint8_t *others;     /* positions */
	Residual *residuals; /* in program order */
	size_t n, room, most;
} Finder;

/* By slot: the prediction of another one is made from its addresses. */
static uint8_t *find_bases(const LodeSlotPredictor *predictor)
{
	uint8_t *is_base = g_new0(uint8_t, predictor->n_slots + 1U);

	for (uint32_t i = 0; i < predictor->n_slots; i++) {
		const LodeSlotState *state = &predictor->slots[i];

		if (state->slot_class == LODE_SLOT_LOCAL || state->slot_class == LODE_SLOT_CONTENT)
			is_base[state->base] = 1;
	}
	return is_base;
}

static bool is_simple(const LodeSlotState *state)
{
	return !state->is_stack && !state->is_history &&
	       (state->slot_class == LODE_SLOT_NEAR || state->slot_class == LODE_SLOT_UNASSIGNED);
}

static void plan_blocks(Finder *self, const LodeFrameLayout *layout)
{
	g_autofree uint8_t *is_base = find_bases(self->predictor);
	uint32_t n_simple = 0, n_others = 0;

	self->blocks = g_new0(BlockPlan, layout->n_blocks + 1U);
	self->simple = g_new(SimpleSlot, layout->n_slots + 1U);
	self->others = g_new(uint8_t, layout->n_slots + 1U);
	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];
		BlockPlan *plan = &self->blocks[i];

		plan->first_slot = block->first_slot;
		plan->first_simple = n_simple;
		plan->first_other = n_others;
		plan->n_slots = block->n_slots;
		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			uint32_t slot = block->first_slot + k;
			const LodeSlotState *state = &self->predictor->slots[slot];

			if (is_simple(state) && !is_base[slot])
				self->simple[n_simple++] = (SimpleSlot){state->constant, slot,
					(uint8_t)k, state->slot_class == LODE_SLOT_UNASSIGNED};
			else
				self->others[n_others++] = (uint8_t)k;
		}
		plan->n_simple = (uint8_t)(n_simple - plan->first_simple);
		plan->n_other = (uint8_t)(n_others - plan->first_other);
	}
}

/* For all of a block. False: they would be more than `most`. */
static bool make_room(Finder *self)
{
	if (G_LIKELY(self->room - self->n >= LODE_BLOCK_MAX_SLOTS))
		return true;
	if (self->most - self->n < LODE_BLOCK_MAX_SLOTS)
		return false;
	self->room = MIN(self->room * 2 + FIRST_ROOM, self->most);
	self->residuals = g_renew(Residual, self->residuals, self->room);
	return true;
}

static inline void add_residual(Finder *self, uint32_t slot, uint32_t number, uint64_t difference)
{
	self->residuals[self->n++] = (Residual){lode_zigzag(difference), slot, number};
}

static inline void compare_simple(
	Finder *self, const BlockPlan *plan, uint32_t number, const uint64_t *addresses)
{
	SimpleSlot *slot = &self->simple[plan->first_simple], *end = slot + plan->n_simple;

	for (; slot < end; slot++) {
		uint64_t address = addresses[slot->position];

		if (G_LIKELY(address == slot->expected))
			continue;
		add_residual(self, slot->slot, number, address - slot->expected);
		if (slot->is_last)
			slot->expected = address;
	}
}

static inline void predict_others(Finder *self, const BlockPlan *plan, uint32_t number,
	const uint64_t *addresses, LodeThreadPlace *place)
{
	const uint8_t *position = &self->others[plan->first_other];
	const uint8_t *end = position + plan->n_other;

	for (; position < end; position++) {
		uint32_t slot = plan->first_slot + *position;
		const LodeSlotState *state = &self->predictor->slots[slot];
		uint64_t address = addresses[*position];
		LodeSlotGuess guess = lode_slot_predictor_guess(self->predictor, slot, place);

		if (guess.base + guess.distance != address)
			add_residual(self, slot, number,
				lode_slot_guess_difference(
					&guess, state->is_absolute, state->constant, address));
		lode_slot_guess_learn(&guess, address);
		lode_slot_predictor_advance(self->predictor, slot, address, place);
	}
}

/* In program order, as the predictor learns in it; the reader predicts the same. */
static bool find_residuals(Finder *self, const LodeTraceFrame *frame)
{
	const uint64_t *addresses = frame->addresses;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		LodeThreadPlace *place = &self->predictor->places[run.thread];

		for (size_t i = run.first; i < run.end; i++) {
			BlockPlan *plan = &self->blocks[frame->blocks[i]];
			const BlockPlan *ahead = &self->blocks[frame->blocks[MIN(
				i + PREFETCH_DISTANCE, run.end - 1)]];
			uint32_t number = plan->n_seen++;

			__builtin_prefetch(&self->simple[ahead->first_simple], 1);
			__builtin_prefetch(&self->predictor->slots[ahead->first_slot], 1);
			if (!make_room(self))
				return false;
			compare_simple(self, plan, number, addresses);
			predict_others(self, plan, number, addresses, place);
			addresses += plan->n_slots;
		}
	}
	return true;
}

/* Counting sort: each slot's stay in their order. */
static void sort(const Finder *self, LodeSlotResiduals *out)
{
	uint32_t n_slots = self->predictor->n_slots;

	out->first = g_new0(uint32_t, n_slots + 2U);
	out->zigzags = g_new(uint64_t, self->n + 1);
	out->numbers = g_new(uint32_t, self->n + 1);
	for (size_t i = 0; i < self->n; i++)
		out->first[self->residuals[i].slot + 2]++;
	for (uint32_t i = 0; i < n_slots; i++)
		out->first[i + 2] += out->first[i + 1];
	/* one place later, where they end up when all have been put there */
	for (size_t i = 0; i < self->n; i++) {
		const Residual *residual = &self->residuals[i];
		uint32_t at = out->first[residual->slot + 1]++;

		out->zigzags[at] = residual->zigzag;
		out->numbers[at] = residual->number;
	}
}

/* A column of zeros need not be written. */
static void note_globals(LodeSlotPredictor *predictor, const LodeSlotResiduals *residuals)
{
	for (uint32_t i = 0; i < predictor->n_slots; i++) {
		LodeSlotState *state = &predictor->slots[i];

		if (state->slot_class <= LODE_SLOT_STRIDE &&
			lode_slot_residuals_count(residuals, i) == 0)
			state->slot_class = LODE_SLOT_GLOBAL;
	}
}

bool lode_slot_residuals_init(LodeSlotResiduals *self, LodeSlotPredictor *predictor,
	const LodeTraceFrame *frame, const LodeFrameLayout *layout)
{
	Finder finder = {
		.predictor = predictor, .most = frame->n_addresses / 2 + LODE_BLOCK_MAX_SLOTS};

	lode_slot_predictor_rewind(predictor);
	plan_blocks(&finder, layout);
	bool is_found = find_residuals(&finder, frame);
	if (is_found) {
		sort(&finder, self);
		note_globals(predictor, self);
	}
	g_free(finder.blocks);
	g_free(finder.simple);
	g_free(finder.others);
	g_free(finder.residuals);
	return is_found;
}

void lode_slot_residuals_clear(LodeSlotResiduals *self)
{
	g_free(self->zigzags);
	g_free(self->numbers);
	g_free(self->first);
	*self = (LodeSlotResiduals){0};
}
