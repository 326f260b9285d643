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
	uint32_t threads_per_memory; /* 0: by the topology */
	/* Borrowed; must live as long as the proposal. NULL: as many equal memories as the threads
	 * need, threads_per_memory on each. */
	const LodeTopology *topology;
} LodePlacementProposalOptions;

/* What one memory gets. */
typedef struct {
	GArray *threads;  /* uint32_t, ascending */
	double accesses;  /* weight of these threads' accesses */
	uint64_t n_pages; /* used ones that were put there */
} LodeProposedMemory;

typedef struct {
	const LodeTopology *topology;
	LodeTopology *own_topology; /* NULL: it is borrowed */
	LodePlacementPolicy policy;
	LodePageMatrix *matrix;
	LodePlacement *placement;
	LodePlacementLocality localities[LODE_N_PLACEMENT_POLICIES];
	bool has_locality[LODE_N_PLACEMENT_POLICIES]; /* the threads fit */
	GArray *memories;                             /* LodeProposedMemory */
	uint64_t n_interleaved;                       /* used pages */
	uint32_t n_unplaced_threads;                  /* that no sample saw */
	bool has_fixed_addresses; /* the recording's addresses come again in the next run */
} LodePlacementProposal;

/* Errors as lode_page_matrix_new() and lode_placement_make(). Borrows names from the profile. */
LodePlacementProposal *lode_placement_proposal_new(
	const LodeProfile *profile, const LodePlacementProposalOptions *options, GError **error);
void lode_placement_proposal_free(LodePlacementProposal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacementProposal, lode_placement_proposal_free)
