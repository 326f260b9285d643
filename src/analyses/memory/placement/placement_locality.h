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
	double weight;   /* of all accesses */
	double local;    /* of those whose thread and page are on one memory */
	double distance; /* mean over all accesses, 1 at home; no number: distances are unknown */
	uint64_t n_placed_pages; /* used pages that a range holds */
} LodePlacementLocality;

/*
 * A page that no range holds is where its first toucher runs. An interleaved page is on each memory
 * by an equal share, and so is a thread that may run anywhere and the page that it touched first.
 * Objects are ignored: their addresses are known only when the program runs.
 */
LodePlacementLocality lode_placement_locality(
	const LodePlacement *placement, const LodePageMatrix *matrix, const LodeTopology *topology);

/* local ÷ weight; 1 where there is none. */
static inline double lode_placement_locality_share(const LodePlacementLocality *self)
{
	return self->weight > 0 ? self->local / self->weight : 1;
}
