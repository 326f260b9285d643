/* SPDX-License-Identifier: MIT */
/*
 * Which line of a set goes: the state of a policy lies in words in front of the set's lines, all
 * zero in an empty set unless the policy says otherwise.
 *
 * Ways that hold no line are taken first: the lowest one.
 */
#pragma once

#include "caches/hierarchy.h"

#include <stddef.h>

/* One policy, for sets of some number of ways. */
typedef struct {
	size_t (*n_words)(unsigned n_ways);
	void (*reset)(uint64_t *state, unsigned n_ways);               /* NULL: zero is right */
	void (*touch)(uint64_t *state, unsigned n_ways, unsigned way); /* a hit */
	void (*fill)(uint64_t *state, unsigned n_ways, unsigned way);
	void (*empty)(uint64_t *state, unsigned n_ways, unsigned way);
	/* the way to be filled next; `lines` are 0 where there is none */
	unsigned (*choose)(
		uint64_t *state, unsigned n_ways, const uint64_t *lines, uint64_t *random);
} LodeReplacementPolicy;

const LodeReplacementPolicy *lode_replacement_policy(LodeReplacement replacement, unsigned n_ways);

/* Ways up to which the order of a set fits into one word. */
enum { LODE_REPLACEMENT_WORD_WAYS = 16 };

/*
 * The order of at most 16 ways in the digits of a hexadecimal number, the newest lowest. Kept
 * combined with the digits in their order, so that zero is an empty set.
 */
#define LODE_WAY_ORDER UINT64_C(0xfedcba9876543210)

static inline unsigned lode_way_order_position(uint64_t order, unsigned way)
{
	uint64_t differing = order ^ way * UINT64_C(0x1111111111111111);
	uint64_t zeros = (differing - UINT64_C(0x1111111111111111)) & ~differing &
	                 UINT64_C(0x8888888888888888);

	return (unsigned)__builtin_ctzll(zeros) / 4;
}

/* The way becomes the newest. */
static inline void lode_way_order_touch(uint64_t *state, unsigned way)
{
	uint64_t order = *state ^ LODE_WAY_ORDER;
	uint64_t upto = ~UINT64_C(0) >> (60 - 4 * lode_way_order_position(order, way));

	*state = ((order & ~upto) | (order << 4 & upto) | way) ^ LODE_WAY_ORDER;
}
