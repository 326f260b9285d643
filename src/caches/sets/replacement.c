/* SPDX-License-Identifier: MIT */
/* The policies, each a row of the table at the end. */
#include "caches/sets/replacement.h"

#include "base/bits.h"

#include <string.h>

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

const LodeReplacementPolicy *lode_replacement_policy(LodeReplacement replacement, unsigned n_ways)
{
	unsigned row = replacement;

	if (n_ways > WORD_WAYS && replacement == LODE_REPLACEMENT_FIFO)
		row = FIFO_LIST;
	return &policies[row];
}
