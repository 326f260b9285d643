/* SPDX-License-Identifier: MIT */
/* Lost lines are few at a time: each has a place in an array, and free places are in a list. */
#include "caches/sets/line_stores.h"

#include <string.h>

enum { NO_PLACE = UINT32_MAX, FIRST_PLACES = 16 };

/* An instruction by a thread, and the bytes that it stored after all others. */
typedef struct {
	uint64_t instruction;
	uint64_t bytes;
	uint16_t thread;
} Author;

typedef struct {
	LodeCacheStore taken_by;
	Author authors[LODE_LINE_STORES_MAX]; /* the last that stored first; none shares a byte */
	uint32_t n_authors;
	uint32_t next_free;
} LostLine;

struct LodeLineStores {
	LodeLineMap places; /* line → number in `lines` */
	LostLine *lines;
	uint32_t n_lines, room, first_free;
	unsigned part_shift;
	LodeCacheBudget *budget;
};

LodeLineStores *lode_line_stores_new(unsigned part_shift, LodeCacheBudget *budget)
{
	LodeLineStores *self = g_new0(LodeLineStores, 1);

	self->first_free = NO_PLACE;
	self->part_shift = part_shift;
	self->budget = budget;
	if (lode_line_map_init(&self->places, 0, budget))
		return self;
	lode_line_stores_free(self);
	return NULL;
}

void lode_line_stores_free(LodeLineStores *self)
{
	if (self == NULL)
		return;
	lode_line_map_clear(&self->places);
	lode_cache_budget_give_back(self->budget, self->room * sizeof(LostLine));
	g_free(self->lines);
	g_free(self);
}

static bool make_room(LodeLineStores *self)
{
	size_t more = MAX(self->room, FIRST_PLACES);
	LostLine *lines;

	if (self->n_lines < self->room)
		return true;
	if (!lode_cache_budget_take(self->budget, more * sizeof(LostLine)))
		return false;
	lines = g_try_renew(LostLine, self->lines, self->room + more);
	if (lines == NULL) {
		lode_cache_budget_refuse(self->budget, more * sizeof(LostLine));
		return false;
	}
	self->lines = lines;
	self->room += (uint32_t)more;
	return true;
}

/* NULL: the budget is spent. */
static LostLine *add_line(LodeLineStores *self, uint64_t line)
{
	uint64_t *place = lode_line_map_find_or_add(&self->places, line);
	uint32_t at = self->first_free;

	if (place == NULL)
		return NULL;
	if (at != NO_PLACE) {
		self->first_free = self->lines[at].next_free;
	} else if (make_room(self)) {
		at = self->n_lines++;
	} else {
		lode_line_map_remove(&self->places, line);
		return NULL;
	}
	*place = at;
	memset(&self->lines[at], 0, sizeof(LostLine));
	return &self->lines[at];
}

static LostLine *find_line(const LodeLineStores *self, uint64_t line)
{
	const uint64_t *place = self->places.n > 0 ? lode_line_map_find(&self->places, line) : NULL;

	return place != NULL ? &self->lines[*place] : NULL;
}

/* The bytes are this one's from now on, and of those before it, who have none left go. */
static void put_first(LostLine *lost, const LodeCacheStore *store, uint64_t bytes)
{
	Author first = {store->instruction, bytes, store->thread};
	Author kept[LODE_LINE_STORES_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < lost->n_authors; i++) {
		const Author *author = &lost->authors[i];

		if (author->instruction == store->instruction && author->thread == store->thread) {
			first.bytes |= author->bytes;
			continue;
		}
		kept[n] = *author;
		kept[n].bytes &= ~bytes;
		n += kept[n].bytes != 0;
	}
	n = MIN(n, LODE_LINE_STORES_MAX - 1);
	lost->authors[0] = first;
	memcpy(&lost->authors[1], kept, n * sizeof(Author));
	lost->n_authors = n + 1;
}

void lode_line_stores_add(LodeLineStores *self, uint64_t line, uint64_t bytes,
	const LodeCacheStore *store, bool takes)
{
	LostLine *lost = find_line(self, line);
	Author *last = lost != NULL ? &lost->authors[0] : NULL;

	if (lost == NULL && takes && (lost = add_line(self, line)) != NULL)
		lost->taken_by = *store;
	if (lost == NULL)
		return;
	/* most store where they stored before */
	if (last != NULL && last->instruction == store->instruction &&
		last->thread == store->thread && (bytes & ~last->bytes) == 0)
		return;
	put_first(lost, store, bytes);
}

void lode_line_stores_remove(LodeLineStores *self, uint64_t line)
{
	LostLine *lost = find_line(self, line);

	if (lost == NULL)
		return;
	lost->next_free = self->first_free;
	self->first_free = (uint32_t)(lost - self->lines);
	lode_line_map_remove(&self->places, line);
}

bool lode_line_stores_find(const LodeLineStores *self, uint64_t line, uint64_t bytes,
	LodeMissClass miss_class, LodeCacheStore *out_store)
{
	const LostLine *lost = find_line(self, line);

	if (lost == NULL)
		return false;
	if (miss_class == LODE_MISS_FALSE_SHARING) {
		*out_store = lost->taken_by;
		return true;
	}
	for (uint32_t i = 0; i < lost->n_authors; i++) {
		const Author *author = &lost->authors[i];
		uint64_t both = author->bytes & bytes;

		if (both == 0)
			continue;
		*out_store = (LodeCacheStore){
			.instruction = author->instruction,
			.thread = author->thread,
			.first = (uint16_t)((unsigned)__builtin_ctzll(both) << self->part_shift),
			.last = (uint16_t)(((64u - (unsigned)__builtin_clzll(both))
						   << self->part_shift) -
					   1),
		};
		return true;
	}
	return false;
}
