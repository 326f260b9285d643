/* SPDX-License-Identifier: MIT */
/* How often a conditional branch is taken: as windows observed it, and by the profile's edges. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	double counted;           /* share of taken by the profile's edges; −1: they have none */
	uint64_t outcomes, taken; /* steps out of it in windows, and those of them elsewhere than
	                             to the instruction after it */
} LodeBranchShares;

/* False: the instruction is not a conditional branch. */
bool lode_branch_shares_find(
	const LodeProfile *profile, uint32_t instruction, LodeBranchShares *out_shares);

/* Whether windows saw enough of its outcomes. */
bool lode_branch_shares_are_observed(const LodeBranchShares *self);
