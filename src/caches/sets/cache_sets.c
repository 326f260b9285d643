/* SPDX-License-Identifier: MIT */
/* Sets of few ways are searched, those of many have a hash table beside them. */
#include "caches/sets/cache_sets.h"

#include "base/arrays/hash.h"
#include "base/arrays/large_array.h"
#include "base/bits.h"
#include "caches/hierarchy/hierarchy.h"

#include <stddef.h>
#include <string.h>

/*
 * Chooses the line of a set that is replaced: the state of a policy lies in words before the set's
 * lines, all zero in an empty set unless the policy says otherwise.
 *
 * Empty ways are filled first, the lowest one first.
 */

/* One policy, for sets of some number of ways. */
struct LodeReplacementPolicy {
	size_t (*n_words)(unsigned n_ways);
	void (*reset)(uint64_t *state, unsigned n_ways);               /* NULL: zero is right */
	void (*touch)(uint64_t *state, unsigned n_ways, unsigned way); /* a hit */
	void (*fill)(uint64_t *state, unsigned n_ways, unsigned way);
	void (*empty)(uint64_t *state, unsigned n_ways, unsigned way);
	/* the way to be filled next; `lines` are 0 where there is none */
	unsigned (*choose)(
		uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random);
};

/* The policies, each a row of the table at the end. */

static void ignore(uint64_t *state, unsigned n_ways, unsigned way)
{
	(void)state;
	(void)n_ways;
	(void)way;
}

/* FIFO of few ways: their order in one word. An emptied way goes to the old end. */

/* Ways up to which the order of a set fits into one word. */
enum { WORD_WAYS = 16 };

/*
 * The order of at most 16 ways in the digits of a hexadecimal number, the newest lowest. Kept
 * combined with the digits in their order, so that zero is an empty set.
 */
#define WAY_ORDER UINT64_C(0xfedcba9876543210)

static unsigned position_of(uint64_t order, unsigned way)
{
	uint64_t differing = order ^ way * UINT64_C(0x1111111111111111);
	uint64_t zeros = (differing - UINT64_C(0x1111111111111111)) & ~differing &
	                 UINT64_C(0x8888888888888888);

	return (unsigned)__builtin_ctzll(zeros) / 4;
}

/* The way becomes the newest. */
static void make_newest(uint64_t *state, unsigned way)
{
	uint64_t order = *state ^ WAY_ORDER;
	uint64_t upto = ~UINT64_C(0) >> (60 - 4 * position_of(order, way));

	*state = ((order & ~upto) | (order << 4 & upto) | way) ^ WAY_ORDER;
}

static size_t order_words(unsigned n_ways)
{
	(void)n_ways;
	return 1;
}

static void order_touch(uint64_t *state, unsigned n_ways, unsigned way)
{
	(void)n_ways;
	make_newest(state, way);
}

static void order_empty(uint64_t *state, unsigned n_ways, unsigned way)
{
	uint64_t order = *state ^ WAY_ORDER;
	unsigned position = position_of(order, way);

	for (unsigned i = position; i + 1 < n_ways; i++) {
		uint64_t next = order >> (4 * (i + 1)) & 15;

		order = (order & ~(UINT64_C(15) << (4 * i))) | next << (4 * i);
	}
	order = (order & ~(UINT64_C(15) << (4 * (n_ways - 1)))) | (uint64_t)way
	                                                                  << (4 * (n_ways - 1));
	*state = order ^ WAY_ORDER;
}

static unsigned order_choose(
	uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random)
{
	(void)lines;
	(void)random;
	return (unsigned)((*state ^ WAY_ORDER) >> (4 * (n_ways - 1)) & 15);
}

/* LRU, and FIFO of many ways: a list, newest first. Word 0 holds both ends, word 1 + way the
 * neighbours of a way, the newer one lowest. */

enum { NO_WAY = UINT32_MAX };

typedef struct {
	uint32_t newer, older;
} Neighbours;

static Neighbours *neighbours(uint64_t *state, unsigned way)
{
	return (Neighbours *)(void *)&state[1 + way];
}

static size_t list_words(unsigned n_ways)
{
	return (size_t)n_ways + 1;
}

static void list_reset(uint64_t *state, unsigned n_ways)
{
	Neighbours *ends = (Neighbours *)(void *)state;

	*ends = (Neighbours){.newer = 0, .older = n_ways - 1};
	for (unsigned way = 0; way < n_ways; way++)
		*neighbours(state, way) = (Neighbours){
			way == 0 ? NO_WAY : way - 1, way + 1 == n_ways ? NO_WAY : way + 1};
}

static void list_take_out(uint64_t *state, unsigned way)
{
	Neighbours *ends = (Neighbours *)(void *)state, at = *neighbours(state, way);

	if (at.newer == NO_WAY)
		ends->newer = at.older;
	else
		neighbours(state, at.newer)->older = at.older;
	if (at.older == NO_WAY)
		ends->older = at.newer;
	else
		neighbours(state, at.older)->newer = at.newer;
}

static void list_touch(uint64_t *state, unsigned n_ways, unsigned way)
{
	Neighbours *ends = (Neighbours *)(void *)state;

	(void)n_ways;
	if (ends->newer == way)
		return;
	list_take_out(state, way);
	*neighbours(state, way) = (Neighbours){NO_WAY, ends->newer};
	neighbours(state, ends->newer)->newer = way;
	ends->newer = way;
}

static void list_empty(uint64_t *state, unsigned n_ways, unsigned way)
{
	Neighbours *ends = (Neighbours *)(void *)state;

	(void)n_ways;
	if (ends->older == way)
		return;
	list_take_out(state, way);
	*neighbours(state, way) = (Neighbours){ends->older, NO_WAY};
	neighbours(state, ends->older)->older = way;
	ends->older = way;
}

static unsigned list_choose(
	uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random)
{
	const Neighbours *ends = (const Neighbours *)(const void *)state;

	(void)n_ways;
	(void)lines;
	(void)random;
	return ends->older;
}

/* The others: word 0 is a way below which all hold lines. */

static void note_empty(uint64_t *state, unsigned n_ways, unsigned way)
{
	(void)n_ways;
	state[0] = MIN(state[0], way);
}

/* The lowest way without a line; `n_ways`: there is none. */
static unsigned find_empty(uint64_t *state, unsigned n_ways, const uint64_t *lines)
{
	while (state[0] < n_ways && lines[state[0]] != 0)
		state[0]++;
	return (unsigned)state[0];
}

static size_t random_words(unsigned n_ways)
{
	(void)n_ways;
	return 1;
}

static unsigned random_choose(
	uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random)
{
	unsigned way = find_empty(state, n_ways, lines);

	if (way < n_ways)
		return way;
	/* G. Marsaglia, "Xorshift RNGs", 2003 */
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (unsigned)((*random >> 32) * n_ways >> 32);
}

/* Bit n of the words from 1 on says to which side of node n the next victim is; node 1 is the
 * root, 2n and 2n + 1 are below n, and way w is leaf n_ways + w. */

static size_t plru_words(unsigned n_ways)
{
	return 1 + ((size_t)n_ways + 63) / 64;
}

static void plru_touch(uint64_t *state, unsigned n_ways, unsigned way)
{
	for (unsigned node = n_ways + way; node > 1; node /= 2) {
		uint64_t bit = LODE_BIT(node / 2 % 64);
		uint64_t *word = &state[1 + node / 2 / 64];

		if (node % 2 == 0)
			*word |= bit;
		else
			*word &= ~bit;
	}
}

static unsigned plru_choose(
	uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random)
{
	unsigned node = 1, way = find_empty(state, n_ways, lines);

	(void)random;
	if (way < n_ways)
		return way;
	while (node < n_ways)
		node = 2 * node + (unsigned)(state[1 + node / 64] >> node % 64 & 1);
	return node - n_ways;
}

/* A byte a way: how far off it is expected to be used again. */

enum { SRRIP_FAR = 2, SRRIP_DISTANT = 3 };

static size_t srrip_words(unsigned n_ways)
{
	return 1 + ((size_t)n_ways + 7) / 8;
}

static void srrip_touch(uint64_t *state, unsigned n_ways, unsigned way)
{
	(void)n_ways;
	((uint8_t *)(state + 1))[way] = 0;
}

static void srrip_fill(uint64_t *state, unsigned n_ways, unsigned way)
{
	(void)n_ways;
	((uint8_t *)(state + 1))[way] = SRRIP_FAR;
}

static unsigned srrip_choose(
	uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random)
{
	uint8_t *values = (uint8_t *)(state + 1);
	unsigned first = 0, way = find_empty(state, n_ways, lines);
	uint8_t older;

	(void)random;
	if (way < n_ways)
		return way;
	for (way = 1; way < n_ways; way++) {
		if (values[way] > values[first])
			first = way;
	}
	older = (uint8_t)(SRRIP_DISTANT - values[first]);
	for (way = 0; older > 0 && way < n_ways; way++)
		values[way] = (uint8_t)(values[way] + older);
	return first;
}

enum { FIFO_LIST = LODE_N_REPLACEMENTS, N_POLICIES };

static const LodeReplacementPolicy policies[N_POLICIES] = {
	[LODE_REPLACEMENT_FIFO] = {order_words, NULL, ignore, order_touch, order_empty,
		order_choose},
	[LODE_REPLACEMENT_LRU] = {list_words, list_reset, list_touch, list_touch, list_empty,
		list_choose},
	[FIFO_LIST] = {list_words, list_reset, ignore, list_touch, list_empty, list_choose},
	[LODE_REPLACEMENT_PLRU] = {plru_words, NULL, plru_touch, plru_touch, note_empty,
		plru_choose},
	[LODE_REPLACEMENT_RANDOM] = {random_words, NULL, ignore, ignore, note_empty, random_choose},
	[LODE_REPLACEMENT_SRRIP] = {srrip_words, NULL, srrip_touch, srrip_fill, note_empty,
		srrip_choose},
};

/* An LRU of few ways needs none, see cache_sets.h. */
static const LodeReplacementPolicy *replacement_policy(LodeReplacement replacement, unsigned n_ways)
{
	unsigned row = replacement;

	if (n_ways > WORD_WAYS && replacement == LODE_REPLACEMENT_FIFO)
		row = FIFO_LIST;
	return &policies[row];
}

enum { MAX_SEARCHED_WAYS = 32, ALIGNMENT = 64 };

/* Sets of the usual ways lie in lines of this machine, too. */
static void *aligned(void *memory)
{
	return (char *)memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

bool lode_cache_sets_init(
	LodeCacheSets *self, const LodeCache *cache, uint64_t seed, LodeCacheBudget *budget)
{
	bool is_by_age = lode_cache_sets_is_by_age(cache);
	const LodeReplacementPolicy *policy =
		is_by_age ? NULL : replacement_policy(cache->replacement, cache->n_ways);
	size_t n_state_words = is_by_age ? 0 : policy->n_words(cache->n_ways);

	*self = (LodeCacheSets){
		.n_state_words = n_state_words,
		.set_words = n_state_words + cache->n_ways,
		.set_mask = cache->n_sets - 1,
		.random = seed * LODE_HASH_MULTIPLIER,
		.n_ways = cache->n_ways,
		.is_by_age = is_by_age,
		.has_places = cache->n_ways > MAX_SEARCHED_WAYS,
		.policy = policy,
		.budget = budget,
	};
	/* the generator never leaves zero */
	if (self->random == 0)
		self->random = 1;
	self->n_bytes = cache->n_sets * self->set_words * sizeof(uint64_t) + ALIGNMENT;
	if (!lode_cache_budget_take(budget, self->n_bytes))
		return false;
	self->memory = g_try_malloc0(self->n_bytes);
	if (self->memory == NULL) {
		lode_cache_budget_refuse(budget, self->n_bytes);
		return false;
	}
	lode_large_array_advise(self->memory, self->n_bytes);
	self->words = aligned(self->memory);
	for (size_t i = 0; policy != NULL && policy->reset != NULL && i < cache->n_sets; i++)
		policy->reset(&self->words[i * self->set_words], self->n_ways);
	return !self->has_places ||
	       lode_line_map_init(&self->places, cache->n_sets * cache->n_ways, budget);
}

void lode_cache_sets_clear(LodeCacheSets *self)
{
	if (self->memory != NULL)
		lode_cache_budget_give_back(self->budget, self->n_bytes);
	g_free(self->memory);
	lode_line_map_clear(&self->places);
	*self = (LodeCacheSets){0};
}

static uint64_t *find_in(const LodeCacheSets *self, uint64_t *set, uint64_t line)
{
	uint64_t *lines = set + self->n_state_words, key = lode_line_entry(line);
	const uint64_t *way;

	if (self->has_places) {
		way = lode_line_map_find(&self->places, line);
		return way != NULL ? &lines[*way] : NULL;
	}
	for (unsigned i = 0; i < self->n_ways; i++) {
		if ((lines[i] ^ key) <= LODE_LINE_FLAGS)
			return &lines[i];
	}
	return NULL;
}

bool lode_cache_sets_has_room(const LodeCacheSets *self, uint64_t line)
{
	const uint64_t *lines = lode_cache_sets_at(self, line) + self->n_state_words;

	for (unsigned i = 0; !self->has_places && i < self->n_ways; i++)
		if (lines[i] == 0)
			return true;
	return self->has_places;
}

uint64_t *lode_cache_sets_find(const LodeCacheSets *self, uint64_t line)
{
	return find_in(self, lode_cache_sets_at(self, line), line);
}

uint64_t *lode_cache_sets_touch(LodeCacheSets *self, uint64_t line)
{
	uint64_t *set, *entry;

	if (self->is_by_age)
		return lode_cache_sets_touch_by_age(self, line);
	set = lode_cache_sets_at(self, line);
	entry = find_in(self, set, line);
	if (entry != NULL)
		self->policy->touch(
			set, self->n_ways, (unsigned)((size_t)(entry - set) - self->n_state_words));
	return entry;
}

static uint64_t *fill_by_age(LodeCacheSets *self, uint64_t line, uint64_t *out_victim)
{
	uint64_t *lines = lode_cache_sets_at(self, line);
	unsigned oldest = self->n_ways - 1;

	*out_victim = lines[oldest];
	memmove(&lines[1], &lines[0], oldest * sizeof(uint64_t));
	lines[0] = lode_line_entry(line);
	return lines;
}

static void note_place(LodeCacheSets *self, uint64_t line, unsigned way, uint64_t victim)
{
	uint64_t *place;

	if (victim != 0)
		lode_line_map_remove(&self->places, lode_line_number(victim));
	/* never grows: it was made for all lines */
	place = lode_line_map_find_or_add(&self->places, line);
	*place = way;
}

uint64_t *lode_cache_sets_fill(LodeCacheSets *self, uint64_t line, uint64_t *out_victim)
{
	uint64_t *set, *lines;
	unsigned way;

	if (self->is_by_age)
		return fill_by_age(self, line, out_victim);
	set = lode_cache_sets_at(self, line);
	lines = set + self->n_state_words;
	way = self->policy->choose(set, self->n_ways, lines, &self->random);
	*out_victim = lines[way];
	lines[way] = lode_line_entry(line);
	self->policy->fill(set, self->n_ways, way);
	if (self->has_places)
		note_place(self, line, way, *out_victim);
	return &lines[way];
}

void lode_cache_sets_remove(LodeCacheSets *self, uint64_t *entry)
{
	uint64_t line = lode_line_number(*entry);
	uint64_t *set = lode_cache_sets_at(self, line);
	size_t way = (size_t)(entry - set) - self->n_state_words;

	if (self->is_by_age) {
		memmove(entry, entry + 1, (self->n_ways - way - 1) * sizeof(uint64_t));
		set[self->n_ways - 1] = 0;
		return;
	}
	if (self->has_places)
		lode_line_map_remove(&self->places, line);
	*entry = 0;
	self->policy->empty(set, self->n_ways, (unsigned)way);
}
