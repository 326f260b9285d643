/* SPDX-License-Identifier: MIT */
/*
 * The branches that a sampled thread comes to next, and which way each goes, as far as the sampled
 * registers, flags and stack tell: code is followed forward from the sampled instruction, up to the
 * first branch that depends on memory that is not known, to a return, or to the sampled instruction
 * again.
 *
 *   sample at ▸ test edi, edi      edi, flags: sampled
 *               je   …             which way: known ──▶ outcome
 *               mov  eax, [rsi]    not known
 *               cmp  eax, 5
 *               jb   …             the end
 *
 * A loaded value is known where the sample lies after the load, as those of a timer do that waited
 * for it.
 */
#pragma once

#include "images/data/data_access.h"

enum { LODE_BRANCHES_AHEAD = 3 }; /* at most */

/* Addresses in the image. Conditional branches, and indirect jumps and calls within the image. */
typedef struct {
	uint64_t source, target;
} LodeBranchAhead;

/* Uses the question's pc, bias, registers and stack. Returns how many were found. */
unsigned lode_branches_ahead(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeBranchAhead out_branches[LODE_BRANCHES_AHEAD]);
