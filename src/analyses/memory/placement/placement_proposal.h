/* SPDX-License-Identifier: MIT */
/*
 * A placement made from a recording's threads and pages, and the effect of it and of naive ones on
 * the sampled accesses: threads that share pages go onto one memory, and each page to the threads
 * that use it most.
 */
#pragma once

#include "base/progress.h"
#include "machine/topology.h"
#include "model/placement.h"

typedef struct LodePageMatrix LodePageMatrix;
typedef struct LodeProfile LodeProfile;

/*
 * The effect that a placement would have on the sampled accesses: the share of them that would be
 * local, and their mean distance.
 */

typedef struct {
	double weight;   /* of all accesses with an address */
	double unseen;   /* of loads and stores without one, which may be local or not */
	double local;    /* of those with one whose thread and page are on one memory */
	double distance; /* mean over accesses with an address, 1 at home; no number: distances are
	                    unknown */
	uint64_t n_placed_pages; /* used pages that a range holds */
} LodePlacementLocality;

/*
 * A page that no range holds is where its first toucher runs. An interleaved page is on each memory
 * by an equal share, and so is a thread that may run anywhere and the page that it touched first.
 * Objects are ignored: their addresses are known only when the program runs. `local_of_thread` has
 * a number for each thread, to which its local weight is added; may be NULL.
 */
LodePlacementLocality lode_placement_locality(const LodePlacement *placement,
	const LodePageMatrix *matrix, const LodeTopology *topology, double *local_of_thread);

/* The share of all loads and stores that is local at least, and at most. */
static inline double lode_placement_locality_least(const LodePlacementLocality *self)
{
	double all = self->weight + self->unseen;

	return all > 0 ? self->local / all : 1;
}

static inline double lode_placement_locality_most(const LodePlacementLocality *self)
{
	double all = self->weight + self->unseen;

	return all > 0 ? (self->local + self->unseen) / all : 1;
}

/* local ÷ weight, of what was seen; 1 where there is none. */
static inline double lode_placement_locality_share(const LodePlacementLocality *self)
{
	return self->weight > 0 ? self->local / self->weight : 1;
}

typedef enum {
	/* Threads grouped by shared pages; each page where its accesses come from, neighbours
	   together; pages that all use alike, and much, interleaved. */
	LODE_PLACEMENT_MAJORITY,
	/* The state without a placement: threads assigned to the memories in turn, each page where
	   it was touched first. */
	LODE_PLACEMENT_FIRST_TOUCH,
	/* Threads assigned in turn, all pages interleaved. */
	LODE_PLACEMENT_ROUND_ROBIN,
	/* Threads grouped as by majority, all pages interleaved. */
	LODE_PLACEMENT_INTERLEAVED,
	LODE_N_PLACEMENT_POLICIES,
} LodePlacementPolicy;

/* "majority", "first-touch", "round-robin", "interleave"; −1 for an unknown word. */
const char *lode_placement_policy_to_text(LodePlacementPolicy value);
int lode_placement_policy_from_text(const char *text);

/* At most this many ranges are written, the ones with most accesses: each may cost the kernel a
 * mapping of its own, of which a process has some 65,000. */
enum { LODE_PLACEMENT_MAX_RANGES = 4096 };

typedef struct {
	const char *event; /* NULL: the one with most samples that have an address */
	uint32_t pid;      /* 0: the process with the greatest weight */
	LodePlacementPolicy policy;
	/* At most so many threads on one memory; 0: two (or one where it has one processor), or as
	 * many as it must be, in proportion to its processors. */
	uint32_t threads_per_memory;
	/* Borrowed; must live as long as the proposal. NULL: as many equal memories as the threads
	 * need, threads_per_memory on each. */
	const LodeTopology *topology;
	const LodeProgress *progress; /* NULL: it cannot be stopped */
} LodePlacementProposalOptions;

/* The threads and pages of one memory. */
typedef struct {
	GArray *threads;  /* uint32_t, ascending */
	double accesses;  /* weight of these threads' loads and stores, without an address too */
	uint64_t n_pages; /* used ones that were put there */
} LodeProposedMemory;

typedef struct {
	const LodeTopology *topology;
	LodeTopology *own_topology; /* NULL: it is borrowed */
	LodePlacementPolicy policy;
	LodePageMatrix *matrix;
	LodePlacement *placement;
	LodePlacementLocality localities[LODE_N_PLACEMENT_POLICIES];
	double *local_of_thread; /* [matrix->n_threads], weight, with the chosen policy */
	bool has_locality[LODE_N_PLACEMENT_POLICIES]; /* the threads fit */
	GArray *memories;                             /* LodeProposedMemory */
	uint64_t n_interleaved;                       /* used pages */
	uint32_t n_unplaced_threads;                  /* that no sample saw */
	bool has_fixed_addresses; /* the recording's addresses come again in the next run */
} LodePlacementProposal;

/*
 * The ranges' notes name what lies there, borrowed from `profile`. A page with few samples follows
 * its neighbours or its object. A thread all of whose loads and stores lost their addresses is put
 * where there is room. Threads that no sample saw may
 * run anywhere, but for the policies that deal them in turn. Errors: as lode_page_matrix_new();
 * _USAGE where threads_per_memory is too small for the topology; _UNSUPPORTED where the addresses
 * are of an address trace, whose address space the program does not have by itself; _LIMIT;
 * _CANCELLED.
 */
LodePlacementProposal *lode_placement_proposal_new(
	const LodeProfile *profile, const LodePlacementProposalOptions *options, GError **error);
void lode_placement_proposal_free(LodePlacementProposal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacementProposal, lode_placement_proposal_free)
