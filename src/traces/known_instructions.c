/* SPDX-License-Identifier: MIT */
/* What the blocks of a frame told so far of the instruction at an address. */
#include "traces/known_instructions.h"

#include "base/hash.h"

enum { FIRST_SIZE = 1 << 10 };

void lode_known_instructions_init(LodeKnownInstructions *self)
{
	self->table = g_new0(LodeKnownInstruction, FIRST_SIZE);
	self->mask = FIRST_SIZE - 1;
	self->n = 0;
}

void lode_known_instructions_clear(LodeKnownInstructions *self)
{
	g_free(self->table);
	*self = (LodeKnownInstructions){0};
}

/* Where an address is, or would be. */
static LodeKnownInstruction *place_of(const LodeKnownInstructions *self, uint64_t address)
{
	uint32_t at = (uint32_t)lode_hash_slot(address, 32) & self->mask;

	while (self->table[at].is_used && self->table[at].address != address)
		at = (at + 1) & self->mask;
	return &self->table[at];
}

const LodeKnownInstruction *lode_known_instructions_find(
	const LodeKnownInstructions *self, uint64_t address)
{
	const LodeKnownInstruction *place = place_of(self, address);

	return place->is_used ? place : NULL;
}

static void grow(LodeKnownInstructions *self)
{
	LodeKnownInstruction *old = self->table;
	uint32_t size = self->mask + 1;

	self->table = g_new0(LodeKnownInstruction, (size_t)size * 2);
	self->mask = size * 2 - 1;
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].is_used)
			*place_of(self, old[i].address) = old[i];
	}
	g_free(old);
}

void lode_known_instructions_add(LodeKnownInstructions *self, const LodeTraceBlock *block)
{
	uint64_t address = block->address;
	unsigned slot = 0;

	for (unsigned i = 0; i < block->n_instructions; i++) {
		LodeKnownInstruction *place = place_of(self, address);
		unsigned first = slot;

		while (slot < block->n_slots && block->slots[slot].instruction == i)
			slot++;
		self->n += !place->is_used;
		*place = (LodeKnownInstruction){.address = address,
			.slots = block->slots == NULL ? NULL : block->slots + first,
			.size = block->instruction_sizes[i],
			.n_slots = (uint8_t)(slot - first),
			.ends = (place->is_used && place->ends) || i + 1U == block->n_instructions,
			.is_used = true};
		address += block->instruction_sizes[i];
		if (self->n * 2 > self->mask)
			grow(self);
	}
}
