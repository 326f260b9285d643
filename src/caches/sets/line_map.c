/* SPDX-License-Identifier: MIT */
/* Open addressing by linear probing; entries after a removed one move up. */
#include "caches/sets/line_map.h"

#include "base/arrays/hash.h"

enum { FIRST_PLACES = 64 };

static size_t home(const LodeLineMap *self, uint64_t key)
{
	return (size_t)lode_hash_append(0, key) & self->mask;
}

static LodeLineMapPlace *new_places(LodeCacheBudget *budget, size_t n)
{
	LodeLineMapPlace *places;

	if (!lode_cache_budget_take(budget, n * sizeof(LodeLineMapPlace)))
		return NULL;
	places = g_try_new0(LodeLineMapPlace, n);
	if (places == NULL)
		lode_cache_budget_refuse(budget, n * sizeof(LodeLineMapPlace));
	return places;
}

static void free_places(LodeCacheBudget *budget, LodeLineMapPlace *places, size_t n)
{
	if (places != NULL)
		lode_cache_budget_give_back(budget, n * sizeof(LodeLineMapPlace));
	g_free(places);
}

bool lode_line_map_init(LodeLineMap *self, size_t n_expected, LodeCacheBudget *budget)
{
	size_t n = FIRST_PLACES;

	while (n / 4 * 3 <= n_expected)
		n *= 2;
	*self = (LodeLineMap){.mask = n - 1, .budget = budget};
	self->places = new_places(budget, n);
	return self->places != NULL;
}

void lode_line_map_clear(LodeLineMap *self)
{
	if (self->budget != NULL)
		free_places(self->budget, self->places, self->mask + 1);
	*self = (LodeLineMap){0};
}

uint64_t *lode_line_map_find(const LodeLineMap *self, uint64_t line)
{
	uint64_t key = line + 1;
	size_t at = home(self, key);

	while (self->places[at].key != 0) {
		if (self->places[at].key == key)
			return &self->places[at].value;
		at = (at + 1) & self->mask;
	}
	return NULL;
}

static LodeLineMapPlace *free_place(const LodeLineMap *self, uint64_t key)
{
	size_t at = home(self, key);

	while (self->places[at].key != 0)
		at = (at + 1) & self->mask;
	return &self->places[at];
}

static bool grow(LodeLineMap *self)
{
	LodeLineMapPlace *old = self->places;
	size_t n_old = self->mask + 1;
	LodeLineMapPlace *places = new_places(self->budget, n_old * 2);

	if (places == NULL)
		return false;
	self->places = places;
	self->mask = n_old * 2 - 1;
	for (size_t i = 0; i < n_old; i++) {
		if (old[i].key != 0)
			*free_place(self, old[i].key) = old[i];
	}
	free_places(self->budget, old, n_old);
	return true;
}

uint64_t *lode_line_map_find_or_add(LodeLineMap *self, uint64_t line)
{
	uint64_t *value = lode_line_map_find(self, line);
	LodeLineMapPlace *place;

	if (value != NULL)
		return value;
	if (self->n >= (self->mask + 1) / 4 * 3 && !grow(self))
		return NULL;
	place = free_place(self, line + 1);
	*place = (LodeLineMapPlace){.key = line + 1};
	self->n++;
	return &place->value;
}

void lode_line_map_remove(LodeLineMap *self, uint64_t line)
{
	uint64_t *value = lode_line_map_find(self, line);
	size_t hole, at;

	if (value == NULL)
		return;
	hole = (size_t)((LodeLineMapPlace *)((char *)value - offsetof(LodeLineMapPlace, value)) -
			self->places);
	for (at = (hole + 1) & self->mask; self->places[at].key != 0; at = (at + 1) & self->mask) {
		size_t wanted = home(self, self->places[at].key);

		/* it may move up unless its home lies after the hole */
		if (((at - wanted) & self->mask) < ((at - hole) & self->mask))
			continue;
		self->places[hole] = self->places[at];
		hole = at;
	}
	self->places[hole].key = 0;
	self->n--;
}
