/* SPDX-License-Identifier: MIT */
#include "function_scope.h"

#include <stdlib.h>

enum {
	FIRST_ROOM = 1024,
	MAX_FRAMES_BYTES = 64 << 20, /* what lies farther up is a different stack */
};

static void pop_to(Recorder *self, uint64_t address)
{
	while (self->n_slots > 0 && self->slots[self->n_slots - 1] <= address &&
		address - self->slots[self->n_slots - 1] < MAX_FRAMES_BYTES)
		self->n_slots--;
}

static bool make_room(Recorder *self)
{
	size_t room = self->slots_room > 0 ? self->slots_room * 2 : FIRST_ROOM;

	if (self->n_slots < self->slots_room)
		return true;
	uint64_t *slots = realloc(self->slots, room * sizeof(*slots));
	if (slots == NULL)
		return false;
	self->slots = slots;
	self->slots_room = room;
	return true;
}

void function_scope_call(Recorder *self, uint64_t address)
{
	if (self->is_shared)
		return;
	pop_to(self, address);
	if (make_room(self))
		self->slots[self->n_slots++] = address;
}

void function_scope_return(Recorder *self, uint64_t address)
{
	if (self->is_shared)
		return;
	pop_to(self, address);
	if (!self->is_inside || address < self->entry_slot ||
		address - self->entry_slot >= MAX_FRAMES_BYTES)
		return;
	self->is_inside = false;
	self->last = 0;
	if (recorder_has_threads())
		recorder_next_chunk(self);
}

void function_scope_enter(Recorder *self)
{
	if (self->is_inside || self->is_shared)
		return;
	self->is_inside = true;
	self->entry_slot = self->n_slots > 0 ? self->slots[self->n_slots - 1] : UINT64_MAX;
}
