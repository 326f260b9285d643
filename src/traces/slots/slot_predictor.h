/* SPDX-License-Identifier: MIT */
/*
 * Predicts the address of a slot, in program order, from the addresses before it in the frame; the
 * residual is written. The same for coding and decoding. Private to traces/.
 *
 *   global      the one address that it has in the whole frame
 *   near        an address that it often has
 *   unassigned  its last address
 *   stride      its last address and its last step again
 *   local       a constant distance from the last address of another slot, of any block
 *   content     what followed the last time that another slot had the address that it has now: a
 *               pointer is followed again
 *   stack       the distance from the last access to the stack that the same two slots had before
 *   history     what followed the last time after the same one, two or three addresses of slots
 *               that are hard to predict: what a program did before it does again
 *
 * The names elsewhere: unassigned is last value, stride is stride prediction, history is a finite
 * context method of order 1 to 3 with a history shared by many slots, of distances (Y. Sazeides,
 * J. Smith, "The Predictability of Data Values", MICRO-30, 1997).
 *
 * The residual of an address is its distance from the prediction; or, for a slot that is_absolute,
 * 0 where the prediction is right and the distance from a constant where it is wrong.
 */
#pragma once

#include "base/arrays/hash.h"
#include "traces/frames/frame_layout.h"

typedef enum {
	LODE_SLOT_GLOBAL,
	LODE_SLOT_NEAR,
	LODE_SLOT_UNASSIGNED,
	LODE_SLOT_STRIDE,
	LODE_SLOT_LOCAL,
	LODE_SLOT_CONTENT,
	LODE_SLOT_STACK,
	LODE_SLOT_HISTORY_1,
	LODE_SLOT_HISTORY_2,
	LODE_SLOT_HISTORY_3,
	LODE_N_SLOT_CLASSES,
} LodeSlotClass;

typedef struct {
	uint64_t last, before; /* addresses */
	uint64_t constant;     /* of global and near: the address; of local: the distance; of
	                          unassigned and stride: where it begins */
	uint32_t base;         /* slot; of local and content */
	uint8_t slot_class;    /* LodeSlotClass */
	bool is_stack;         /* says where the stack is, whatever its class */
	bool is_history;       /* takes part in the history, likewise */
	bool is_absolute;      /* a wrong prediction is written as the distance from the constant */
} LodeSlotState;

/* Where a thread used its stack last, and its history, the last first. */
typedef struct {
	uint64_t stack_address;
	uint64_t history[3];
	uint32_t stack_slot;
} LodeThreadPlace;

enum {
	LODE_SLOT_MIN_BITS = 8,
	LODE_SLOT_MAX_STACK_BITS = 16,
	LODE_SLOT_MAX_CONTENT_BITS = 18,
};

typedef struct LodeSlotPredictor {
	LodeSlotState *slots; /* owned; × n_slots */
	uint32_t n_slots;
	uint64_t *stack_steps;   /* owned; 2^stack_bits distances, by two slots */
	uint64_t *contents;      /* owned; 2^content_bits, by slot and address */
	LodeThreadPlace *places; /* owned; by thread */
	uint32_t n_threads;
	uint8_t stack_bits, content_bits; /* of the places in these tables */
} LodeSlotPredictor;

/* For a frame with so many slots; its tables suit its number of addresses. */
void lode_slot_predictor_init(LodeSlotPredictor *self, uint32_t n_slots,
	const LodeTraceFrame *frame, uint64_t n_addresses);
void lode_slot_predictor_clear(LodeSlotPredictor *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSlotPredictor, lode_slot_predictor_clear)

/* Forgets all addresses; classes, constants and bases stay. */
void lode_slot_predictor_rewind(LodeSlotPredictor *self);

/* A part of the format: a reader computes the same places as the writer. */
static inline uint32_t lode_slot_hash(uint64_t address, uint32_t slot, unsigned bits)
{
	uint64_t key = address * LODE_HASH_MULTIPLIER ^ slot * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (uint32_t)lode_hash_slot(key, bits);
}

static inline uint64_t lode_slot_history(const LodeThreadPlace *place, LodeSlotClass slot_class)
{
	uint64_t result = place->history[0];

	if (slot_class >= LODE_SLOT_HISTORY_2)
		result = result * 0x2545f491 + place->history[1];
	if (slot_class >= LODE_SLOT_HISTORY_3)
		result = result * 0x2545f491 + place->history[2];
	return result;
}

/* The prediction of an address: a base and a distance, which is learned if it is in a table. */
typedef struct {
	uint64_t base, distance;
	uint64_t *learned; /* NULL: nothing is */
} LodeSlotGuess;

static inline LodeSlotGuess lode_slot_predictor_look_up(
	uint64_t *table, uint32_t place, uint64_t base)
{
	return (LodeSlotGuess){base, table[place], &table[place]};
}

/* Inlined: the result would go through memory, for each address. */
G_ALWAYS_INLINE static inline LodeSlotGuess lode_slot_predictor_guess_as(
	const LodeSlotPredictor *self, uint32_t slot, LodeSlotClass slot_class, uint32_t base_slot,
	uint64_t constant, const LodeThreadPlace *place)
{
	const LodeSlotState *state = &self->slots[slot];
	uint64_t base;

	switch (slot_class) {
	case LODE_SLOT_UNASSIGNED:
		return (LodeSlotGuess){state->last, 0, NULL};
	case LODE_SLOT_STRIDE:
		return (LodeSlotGuess){state->last, state->last - state->before, NULL};
	case LODE_SLOT_LOCAL:
		return (LodeSlotGuess){self->slots[base_slot].last, constant, NULL};
	case LODE_SLOT_CONTENT:
		base = self->slots[base_slot].last;
		return lode_slot_predictor_look_up(
			self->contents, lode_slot_hash(base, slot, self->content_bits), base);
	case LODE_SLOT_STACK:
		return lode_slot_predictor_look_up(self->stack_steps,
			lode_slot_hash(place->stack_slot, slot, self->stack_bits),
			place->stack_address);
	case LODE_SLOT_HISTORY_1:
	case LODE_SLOT_HISTORY_2:
	case LODE_SLOT_HISTORY_3:
		base = place->history[0];
		return lode_slot_predictor_look_up(self->contents,
			lode_slot_hash(
				lode_slot_history(place, slot_class), slot, self->content_bits),
			base);
	default:
		return (LodeSlotGuess){constant, 0, NULL};
	}
}

G_ALWAYS_INLINE static inline LodeSlotGuess lode_slot_predictor_guess(
	const LodeSlotPredictor *self, uint32_t slot, const LodeThreadPlace *place)
{
	const LodeSlotState *state = &self->slots[slot];

	return lode_slot_predictor_guess_as(
		self, slot, (LodeSlotClass)state->slot_class, state->base, state->constant, place);
}

/* The difference that is written for an address. */
static inline uint64_t lode_slot_guess_difference(
	const LodeSlotGuess *guess, bool is_absolute, uint64_t constant, uint64_t address)
{
	uint64_t expected = guess->base + guess->distance;

	if (!is_absolute || address == expected)
		return address - expected;
	/* The constant itself and the guess change places, so that 0 is free for the guess. */
	return address == constant ? expected - constant : address - constant;
}

/* The address of which this was written. */
static inline uint64_t lode_slot_guess_address(
	const LodeSlotGuess *guess, bool is_absolute, uint64_t constant, uint64_t difference)
{
	uint64_t expected = guess->base + guess->distance;

	if (!is_absolute || difference == 0)
		return expected + difference;
	return constant + difference == expected ? constant : constant + difference;
}

static inline void lode_slot_guess_learn(const LodeSlotGuess *guess, uint64_t address)
{
	if (guess->learned != NULL)
		*guess->learned = address - guess->base;
}

/* The slot came to an address. */
static inline void lode_slot_predictor_advance(
	LodeSlotPredictor *self, uint32_t slot, uint64_t address, LodeThreadPlace *place)
{
	LodeSlotState *state = &self->slots[slot];

	state->before = state->last;
	state->last = address;
	if (state->is_stack) {
		place->stack_address = address;
		place->stack_slot = slot;
	}
	if (state->is_history) {
		place->history[2] = place->history[1];
		place->history[1] = place->history[0];
		place->history[0] = address;
	}
}
