/* SPDX-License-Identifier: MIT */
#include "ingest/windows/recent_accesses.h"

#include <glib.h>
#include <string.h>

void lode_recent_accesses_begin(LodeRecentAccesses *self, uint32_t n_sets, uint32_t n_ways)
{
	bool is_usable = n_sets > 0 && n_sets <= LODE_RECENT_SETS && (n_sets & (n_sets - 1)) == 0 &&
	                 n_ways > 0 && n_ways <= LODE_RECENT_MAX_WAYS && n_sets * n_ways > 1;

	self->n_sets = is_usable ? n_sets : LODE_RECENT_SETS;
	self->n_ways = is_usable ? n_ways : LODE_RECENT_WAYS;
	lode_recent_accesses_forget(self);
}

void lode_recent_accesses_forget(LodeRecentAccesses *self)
{
	self->n_lines = self->n_stores = 0;
}

static bool use_line(LodeRecentAccesses *self, uint64_t line)
{
	const unsigned most = self->n_sets * self->n_ways / 2;
	const uint64_t of_set = self->n_sets - 1;
	unsigned i = 0, n_of_set = 0;

	for (; i < self->n_lines && self->lines[i] != line; i++)
		n_of_set += ((self->lines[i] ^ line) & of_set) == 0;
	bool is_known = i < self->n_lines;
	if (!is_known && self->n_lines < most)
		self->n_lines++;
	i = MIN(i, most - 1);
	memmove(&self->lines[1], &self->lines[0], i * sizeof(self->lines[0]));
	self->lines[0] = line;
	return is_known && n_of_set >= self->n_ways;
}

bool lode_recent_accesses_use(LodeRecentAccesses *self, uint64_t address, uint32_t size)
{
	uint64_t first = address / LODE_RECENT_LINE;
	uint64_t n = (address % LODE_RECENT_LINE + size - 1) / LODE_RECENT_LINE;
	bool is_conflict = false;

	for (uint64_t i = 0; i <= MIN(n, LODE_RECENT_MAX_LINES); i++)
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
