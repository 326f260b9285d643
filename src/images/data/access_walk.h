/* SPDX-License-Identifier: MIT */
/* Private to images/: the way back through a function's code, where only one leads. */
#pragma once

#include "images/data/access_search.h"

typedef struct {
	LodeAccessSearch *search;
	const LodeControlFlow *flow;
	const LodeBranchTargets *targets; /* NULL: unknown */
	bool has_indirect_jumps;          /* in the function */
	bool has_ignored; /* data seemed to lead to the way, but no jump can take it there */
} LodeAccessWalk;

/* From an instruction of the question's function, whose number it gives. False: `search` has failed
 * with a reason. */
bool lode_access_walk_init(LodeAccessWalk *self, LodeAccessSearch *search, uint32_t *out_number);

const LodeStaticInstruction *lode_access_walk_at(const LodeAccessWalk *self, uint32_t number);

/* The number of the instruction that always runs before another; UINT32_MAX: several may. */
uint32_t lode_access_walk_before(LodeAccessWalk *self, uint32_t number);

/* Whether the instruction above, which ends there, runs on into this one: it is not a jump, and no
 * filling that nothing leads to. */
bool lode_access_walk_falls_into(const LodeAccessWalk *self, uint32_t number);

/* Whether registers after an instruction follow from those before, if it led there. */
bool lode_access_is_opaque(const LodeFullInstruction *full, const LodeDecodedInstruction *decoded);

/* Whether unseen jumps may lead into the walked code, from an instruction on. */
bool lode_access_walk_is_unverified(const LodeAccessWalk *self, uint32_t number);
