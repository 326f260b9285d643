/* SPDX-License-Identifier: MIT */
/* A placement made of a profile, and what it and the naive ones would do to the sampled accesses.
 */
#pragma once

#include "analyses/memory/placement_locality.h"
#include "analyses/memory/placement_maker.h"

typedef struct {
	const char *event; /* NULL: the one with most samples that have an address */
	uint32_t pid;      /* 0: the process with the greatest weight */
	LodePlacementPolicy policy;
	uint32_t threads_per_memory;  /* 0: by the topology */
	const LodeTopology *topology; /* borrowed; must live as long as the proposal */
} LodePlacementProposalOptions;

typedef struct {
	const LodeTopology *topology;
	LodePlacementPolicy policy;
	LodePageMatrix *matrix;
	LodePlacement *placement;
	LodePlacementLocality localities[LODE_N_PLACEMENT_POLICIES];
	bool has_locality[LODE_N_PLACEMENT_POLICIES]; /* the threads fit */
	bool has_fixed_addresses; /* the recording's addresses come again in the next run */
} LodePlacementProposal;

/* Errors as lode_page_matrix_new() and lode_placement_make(). Borrows names from the profile. */
LodePlacementProposal *lode_placement_proposal_new(
	const LodeProfile *profile, const LodePlacementProposalOptions *options, GError **error);
void lode_placement_proposal_free(LodePlacementProposal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacementProposal, lode_placement_proposal_free)
