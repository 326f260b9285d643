/* SPDX-License-Identifier: MIT */
#include "ingest/windows/recent_accesses.h"

#include <glib.h>
#include <string.h>

void lode_recent_accesses_forget(LodeRecentAccesses *self)
{
	self->n_lines = self->n_stores = 0;
}

static bool use_line(LodeRecentAccesses *self, uint64_t line)
{
	unsigned i = 0, n_of_set = 0;

	for (; i < self->n_lines && self->lines[i] != line; i++)
		n_of_set += self->lines[i] % LODE_RECENT_SETS == line % LODE_RECENT_SETS;
	bool is_known = i < self->n_lines;
	if (!is_known && self->n_lines < LODE_RECENT_LINES)
		self->n_lines++;
	i = MIN(i, LODE_RECENT_LINES - 1);
	memmove(&self->lines[1], &self->lines[0], i * sizeof(self->lines[0]));
	self->lines[0] = line;
	return is_known && n_of_set >= LODE_RECENT_WAYS;
}

bool lode_recent_accesses_use(LodeRecentAccesses *self, uint64_t address, uint32_t size)
{
	uint64_t first = address / LODE_RECENT_LINE;
	uint64_t n = (address % LODE_RECENT_LINE + size - 1) / LODE_RECENT_LINE;
	bool is_conflict = false;

	for (uint64_t i = 0; i <= MIN(n, LODE_RECENT_LINES); i++)
		is_conflict |= use_line(self, first + i);
	return is_conflict;
}

void lode_recent_accesses_store(
	LodeRecentAccesses *self, uint64_t address, uint32_t size, uint32_t step)
{
	self->stores[self->n_stores++ % LODE_RECENT_STORES] = (LodeRecentStore){
		address, size, step};
}

const LodeRecentStore *lode_recent_accesses_find_store(const LodeRecentAccesses *self,
	uint64_t address, uint32_t size, uint32_t step, bool *out_is_whole)
{
	for (unsigned i = 0; i < MIN(self->n_stores, LODE_RECENT_STORES); i++) {
		const LodeRecentStore *store =
			&self->stores[(self->n_stores - 1 - i) % LODE_RECENT_STORES];
		if (step - store->step > LODE_RECENT_STEPS)
			return NULL;
		uint64_t offset = address - store->address;
		if (offset >= store->size && store->address - address >= size)
			continue;
		*out_is_whole = offset < store->size && size <= store->size - offset;
		return store;
	}
	return NULL;
}
