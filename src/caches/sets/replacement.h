/* SPDX-License-Identifier: MIT */
/*
 * Chooses the line of a set that is replaced: the state of a policy lies in words before the set's
 * lines, all zero in an empty set unless the policy says otherwise.
 *
 * Empty ways are filled first, the lowest one first. Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

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

/* An LRU of few ways needs none, see cache_sets.h. */
const LodeReplacementPolicy *lode_replacement_policy(LodeReplacement replacement, unsigned n_ways);
