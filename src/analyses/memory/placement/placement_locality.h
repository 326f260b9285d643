/* SPDX-License-Identifier: MIT */
/*
 * The effect that a placement would have on the sampled accesses: the share of them that would be
 * local, and their mean distance.
 */
#pragma once

#include "analyses/memory/placement/page_matrix.h"
#include "machine/topology.h"
#include "model/placement.h"

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
