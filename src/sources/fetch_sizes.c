/* SPDX-License-Identifier: MIT */
#include "sources/fetch_sizes.h"

#include "base/hash.h"

#include <string.h>

enum {
	HELD_ROOM = 4096,
	MAX_HELD = 4096, /* after a fetch, until it is settled without the next one */
	MAX_SIZE = 15,
	TABLE_BITS = 16, /* of places; addresses that share one forget each other */
};

typedef struct {
	uint64_t address;
	uint32_t size; /* 0: nothing here */
} KnownSize;

struct LodeFetchSizes {
	size_t n, taken;
	size_t settled; /* up to here sizes are known */
	bool is_open;   /* the reference at `settled` is a fetch whose size is not */
	LodeReference held[HELD_ROOM + MAX_HELD];
	KnownSize table[1 << TABLE_BITS];
};

LodeFetchSizes *lode_fetch_sizes_new(void)
{
	return g_new0(LodeFetchSizes, 1);
}

void lode_fetch_sizes_free(LodeFetchSizes *self)
{
	g_free(self);
}

static KnownSize *place_of(LodeFetchSizes *self, uint64_t address)
{
	return &self->table[lode_hash_slot(address, TABLE_BITS)];
}

/* `distance` to the next fetch; 0: not known. */
static void settle(LodeFetchSizes *self, uint64_t distance)
{
	LodeReference *fetch = &self->held[self->settled];
	KnownSize *known = place_of(self, fetch->address);
	uint32_t size = known->address == fetch->address ? known->size : 0;

	if (distance >= 1 && distance <= MAX_SIZE && (size == 0 || distance < size)) {
		size = (uint32_t)distance;
		*known = (KnownSize){fetch->address, size};
	}
	fetch->size = size;
	self->is_open = false;
}

LodeReference *lode_fetch_sizes_room(LodeFetchSizes *self, size_t *out_room)
{
	size_t left = self->n - self->taken;

	memmove(self->held, self->held + self->taken, left * sizeof(*self->held));
	self->settled -= self->taken;
	self->n = left;
	self->taken = 0;
	*out_room = G_N_ELEMENTS(self->held) - self->n;
	return self->held + self->n;
}

void lode_fetch_sizes_added(LodeFetchSizes *self, size_t n, bool is_end)
{
	for (size_t i = self->n; i < self->n + n; i++) {
		/* Here, and not by how many came at once: that is up to who writes a pipe. */
		if (self->is_open && i - self->settled >= MAX_HELD)
			settle(self, 0);
		if (self->held[i].kind != LODE_REFERENCE_FETCH)
			continue;
		if (self->is_open)
			settle(self, self->held[i].address - self->held[self->settled].address);
		self->settled = i;
		self->is_open = true;
	}
	self->n += n;
	if (self->is_open && is_end)
		settle(self, 0);
	if (!self->is_open)
		self->settled = self->n;
}

size_t lode_fetch_sizes_take(LodeFetchSizes *self, LodeReference *out, size_t room)
{
	size_t n = MIN(room, self->settled - self->taken);

	memcpy(out, self->held + self->taken, n * sizeof(*out));
	self->taken += n;
	return n;
}
