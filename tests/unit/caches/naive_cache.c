/* SPDX-License-Identifier: MIT */
#include "naive_cache.h"

NaiveCache *naive_cache_new(const LodeCache *description, unsigned core)
{
	NaiveCache *self = g_new0(NaiveCache, 1);

	self->description = description;
	self->lines = g_new0(NaiveLine, description->n_sets * description->n_ways);
	self->goes_right = g_new0(bool, description->n_sets * description->n_ways);
	self->random = (description->seed + core + 1) * 11400714819323198485u;
	if (self->random == 0)
		self->random = 1;
	self->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->lost = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->associative = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

void naive_cache_free(NaiveCache *self)
{
	g_free(self->lines);
	g_free(self->goes_right);
	g_hash_table_unref(self->seen);
	g_hash_table_unref(self->lost);
	g_array_unref(self->associative);
	g_free(self);
}

static uint64_t set_of(const NaiveCache *self, uint64_t number)
{
	return number % self->description->n_sets;
}

NaiveLine *naive_cache_find(NaiveCache *self, uint64_t number)
{
	NaiveLine *set = &self->lines[set_of(self, number) * self->description->n_ways];

	for (unsigned way = 0; way < self->description->n_ways; way++) {
		if (set[way].is_there && set[way].number == number)
			return &set[way];
	}
	return NULL;
}

bool naive_cache_has_room(const NaiveCache *self, uint64_t number)
{
	const NaiveLine *set = &self->lines[set_of(self, number) * self->description->n_ways];

	for (unsigned way = 0; way < self->description->n_ways; way++)
		if (!set[way].is_there)
			return true;
	return false;
}

/* Turns the tree's nodes away from a way: of [low, high) node n splits the middle. */
static void turn_away(bool *nodes, unsigned node, unsigned low, unsigned high, unsigned way)
{
	unsigned middle = (low + high) / 2;

	if (high - low == 1)
		return;
	nodes[node] = way < middle;
	if (way < middle)
		turn_away(nodes, 2 * node, low, middle, way);
	else
		turn_away(nodes, 2 * node + 1, middle, high, way);
}

static unsigned follow_tree(const bool *nodes, unsigned node, unsigned low, unsigned high)
{
	unsigned middle = (low + high) / 2;

	if (high - low == 1)
		return low;
	return nodes[node] ? follow_tree(nodes, 2 * node + 1, middle, high)
	                   : follow_tree(nodes, 2 * node, low, middle);
}

void naive_cache_use(NaiveCache *self, NaiveLine *line)
{
	unsigned n_ways = self->description->n_ways;
	uint64_t set = set_of(self, line->number);

	line->used = ++self->clock;
	line->prediction = 0;
	if (self->description->replacement == LODE_REPLACEMENT_PLRU)
		turn_away(&self->goes_right[set * n_ways], 1, 0, n_ways,
			(unsigned)(line - &self->lines[set * n_ways]));
}

static unsigned oldest(const NaiveCache *self, const NaiveLine *set, bool by_fill)
{
	unsigned found = 0;

	for (unsigned way = 1; way < self->description->n_ways; way++) {
		if (by_fill ? set[way].filled < set[found].filled : set[way].used < set[found].used)
			found = way;
	}
	return found;
}

static unsigned random_way(NaiveCache *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return (unsigned)((self->random >> 32) * self->description->n_ways / 4294967296u);
}

static unsigned most_distant(const NaiveCache *self, NaiveLine *set)
{
	for (;;) {
		for (unsigned way = 0; way < self->description->n_ways; way++) {
			if (set[way].prediction == 3)
				return way;
		}
		for (unsigned way = 0; way < self->description->n_ways; way++)
			set[way].prediction++;
	}
}

static unsigned choose(NaiveCache *self, uint64_t set_number)
{
	unsigned n_ways = self->description->n_ways;
	NaiveLine *set = &self->lines[set_number * n_ways];

	for (unsigned way = 0; way < n_ways; way++) {
		if (!set[way].is_there)
			return way;
	}
	switch (self->description->replacement) {
	case LODE_REPLACEMENT_PLRU:
		return follow_tree(&self->goes_right[set_number * n_ways], 1, 0, n_ways);
	case LODE_REPLACEMENT_RANDOM:
		return random_way(self);
	case LODE_REPLACEMENT_SRRIP:
		return most_distant(self, set);
	default:
		return oldest(self, set, self->description->replacement == LODE_REPLACEMENT_FIFO);
	}
}

NaiveLine naive_cache_fill(NaiveCache *self, uint64_t number)
{
	uint64_t set = set_of(self, number);
	NaiveLine *line = &self->lines[set * self->description->n_ways + choose(self, set)];
	NaiveLine victim = *line;

	*line = (NaiveLine){.number = number, .is_there = true};
	naive_cache_use(self, line);
	line->filled = self->clock;
	line->prediction = 2;
	return victim;
}

void naive_cache_remove(NaiveCache *self, NaiveLine *line)
{
	(void)self;
	line->is_there = false;
}

bool naive_cache_use_associative(NaiveCache *self, uint64_t number, bool brings_in)
{
	GArray *lines = self->associative;
	bool was_held = false;

	for (guint i = 0; i < lines->len && !was_held; i++) {
		was_held = g_array_index(lines, uint64_t, i) == number;
		if (was_held)
			g_array_remove_index(lines, i);
	}
	if (!was_held && !brings_in)
		return false;
	g_array_append_val(lines, number);
	if (lines->len > self->description->n_sets * self->description->n_ways)
		g_array_remove_index(lines, 0);
	return was_held;
}
