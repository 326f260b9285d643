/* SPDX-License-Identifier: MIT */
/*
 * What the blocks of a frame told so far of the instruction at an address: its size, its accesses,
 * and whether a block ended with it.
 *
 * An open hash table of the instructions of the blocks themselves, which are borrowed.
 */
#pragma once

#include "traces/block_dictionary.h"

typedef struct {
	uint64_t address;
	const LodeTraceSlot *slots; /* borrowed */
	uint32_t size;
	uint8_t n_slots;
	bool ends; /* some block */
	bool is_used;
} LodeKnownInstruction;

typedef struct {
	LodeKnownInstruction *table; /* owned */
	uint32_t mask, n;
} LodeKnownInstructions;

void lode_known_instructions_init(LodeKnownInstructions *self);
void lode_known_instructions_clear(LodeKnownInstructions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeKnownInstructions, lode_known_instructions_clear)

/* NULL: not known. Valid until the next block is added. */
const LodeKnownInstruction *lode_known_instructions_find(
	const LodeKnownInstructions *self, uint64_t address);

/* A block that stays as it is; later ones count. */
void lode_known_instructions_add(LodeKnownInstructions *self, const LodeTraceBlock *block);
