/* SPDX-License-Identifier: MIT */
/*
 * Makes a placement of what a recording saw of threads and pages: threads that share pages go onto
 * one memory, and each page to the threads that use it most.
 */
#pragma once

#include "analyses/memory/page_matrix.h"
#include "model/placement.h"
#include "record/topology.h"

typedef enum {
	/* Threads grouped by what they share; each page where its accesses come from, neighbours
	 * together; pages that all use alike, and much, interleaved. */
	LODE_PLACEMENT_MAJORITY,
	/* What happens without any: threads dealt to the memories in turn, each page where it was
	 * touched first. */
	LODE_PLACEMENT_FIRST_TOUCH,
	/* Threads dealt in turn, all pages interleaved. */
	LODE_PLACEMENT_ROUND_ROBIN,
	/* Threads grouped as by majority, all pages interleaved. */
	LODE_PLACEMENT_INTERLEAVED,
	LODE_N_PLACEMENT_POLICIES,
} LodePlacementPolicy;

/* "majority", "first-touch", "round-robin", "interleave"; −1 for an unknown word. */
const char *lode_placement_policy_to_text(LodePlacementPolicy value);
int lode_placement_policy_from_text(const char *text);

typedef struct {
	LodePlacementPolicy policy;
	const LodeTopology *topology;
	/*
	 * At most so many threads on one memory; 0: two (or one where it has one processor), or as
	 * many as it must be, in proportion to its processors.
	 */
	uint32_t threads_per_memory;
} LodePlacementOptions;

/* At most this many ranges are written, the ones with most accesses: each may cost the kernel a
 * mapping of its own, of which a process has some 65,000. */
enum { LODE_PLACEMENT_MAX_RANGES = 4096 };

/*
 * The ranges' notes name what lies there, as `profile` has it. Threads that no sample saw may run
 * anywhere, but for the policies that deal them in turn. Errors: _USAGE when threads_per_memory is
 * too small for the topology.
 */
LodePlacement *lode_placement_make(const LodeProfile *profile, const LodePageMatrix *matrix,
	const LodePlacementOptions *options, GError **error);
