/* SPDX-License-Identifier: MIT */
/* The threads' part of making a placement: which memory each one runs on. */
#pragma once

#include "analyses/memory/placement_maker.h"

/* To the memories in turn, in the order of creation. */
void lode_placement_threads_deal(LodePlacement *placement);

/* Those that were sampled by what they share, at most so many on each memory as `options` say. Of
 * more than some thousand threads, the ones with least accesses follow where room is. Errors:
 * _USAGE. */
bool lode_placement_threads_group(LodePlacement *placement, const LodePageMatrix *matrix,
	const LodePlacementOptions *options, GError **error);
