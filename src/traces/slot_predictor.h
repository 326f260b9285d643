/* SPDX-License-Identifier: MIT */
/*
 * Guesses the address of a slot, in program order, from what went before in the frame; what is
 * written is the difference. The same for coding and decoding.
 *
 *   global      the one address that it has in the whole frame
 *   near        an address that it often has
 *   unassigned  its address before
 *   stride      the step before once more
 *   local       a constant from where another slot was last: of the same block, or of any
 *   content     what came last when another slot was where it is now: a pointer is followed again
 *   successor   what came last behind the address before
 *   stack       from where the stack was last used: what came last for the same two slots
 */
#pragma once

#include "traces/frame_layout.h"

typedef enum {
	LODE_SLOT_GLOBAL,
	LODE_SLOT_NEAR,
	LODE_SLOT_UNASSIGNED,
	LODE_SLOT_STRIDE,
	LODE_SLOT_LOCAL,
	LODE_SLOT_CONTENT,
	LODE_SLOT_SUCCESSOR,
	LODE_SLOT_STACK,
	LODE_N_SLOT_CLASSES,
} LodeSlotClass;

typedef struct {
	uint64_t last, before; /* addresses */
	uint64_t constant;     /* of global and near: the address; of local: the distance; of
	                          unassigned, stride and successor: where it begins */
	uint32_t base;         /* slot; of local and content */
	uint8_t slot_class;    /* LodeSlotClass */
	bool is_stack;         /* says where the stack is, whatever its class */
} LodeSlotState;

/* Where a thread used its stack last. */
typedef struct {
	uint64_t address;
	uint32_t slot;
} LodeStackPlace;

enum {
	LODE_SLOT_STACK_BITS = 16,
	LODE_SLOT_CONTENT_BITS = 18,
};

typedef struct {
	LodeSlotState *slots; /* owned; × n_slots */
	uint32_t n_slots;
	uint64_t *stack_steps;        /* owned; 2^LODE_SLOT_STACK_BITS distances by two slots */
	uint64_t *contents;           /* owned; 2^LODE_SLOT_CONTENT_BITS by slot and address */
	LodeStackPlace *stack_places; /* owned; by thread */
	uint32_t n_threads;
} LodeSlotPredictor;

void lode_slot_predictor_init(LodeSlotPredictor *self, uint32_t n_slots, uint32_t n_threads);
void lode_slot_predictor_clear(LodeSlotPredictor *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSlotPredictor, lode_slot_predictor_clear)

/* Forgets all addresses; classes, constants and bases stay. */
void lode_slot_predictor_rewind(LodeSlotPredictor *self);

static inline uint32_t lode_slot_hash(uint64_t address, uint32_t slot, unsigned bits)
{
	uint64_t key = address * UINT64_C(0x9e3779b97f4a7c15) ^ slot * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* What an address is guessed from: a base and a distance, which is learned where it lies in a
 * table. */
typedef struct {
	uint64_t base, distance;
	uint64_t *learned; /* NULL: nothing is */
} LodeSlotGuess;

static inline LodeSlotGuess lode_slot_predictor_look_up(
	uint64_t *table, uint32_t place, uint64_t base)
{
	return (LodeSlotGuess){base, table[place], &table[place]};
}

static inline LodeSlotGuess lode_slot_predictor_guess_as(const LodeSlotPredictor *self,
	uint32_t slot, LodeSlotClass slot_class, uint32_t base_slot, uint64_t constant,
	const LodeStackPlace *stack)
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
			self->contents, lode_slot_hash(base, slot, LODE_SLOT_CONTENT_BITS), base);
	case LODE_SLOT_SUCCESSOR:
		base = state->last;
		return lode_slot_predictor_look_up(
			self->contents, lode_slot_hash(base, slot, LODE_SLOT_CONTENT_BITS), base);
	case LODE_SLOT_STACK:
		return lode_slot_predictor_look_up(self->stack_steps,
			lode_slot_hash(stack->slot, slot, LODE_SLOT_STACK_BITS), stack->address);
	default:
		return (LodeSlotGuess){constant, 0, NULL};
	}
}

static inline LodeSlotGuess lode_slot_predictor_guess(
	const LodeSlotPredictor *self, uint32_t slot, const LodeStackPlace *stack)
{
	const LodeSlotState *state = &self->slots[slot];

	return lode_slot_predictor_guess_as(
		self, slot, (LodeSlotClass)state->slot_class, state->base, state->constant, stack);
}

static inline void lode_slot_guess_learn(const LodeSlotGuess *guess, uint64_t address)
{
	if (guess->learned != NULL)
		*guess->learned = address - guess->base;
}

/* The slot came to an address. */
static inline void lode_slot_predictor_advance(
	LodeSlotPredictor *self, uint32_t slot, uint64_t address, LodeStackPlace *stack)
{
	LodeSlotState *state = &self->slots[slot];

	state->before = state->last;
	state->last = address;
	if (state->is_stack)
		*stack = (LodeStackPlace){address, slot};
}
