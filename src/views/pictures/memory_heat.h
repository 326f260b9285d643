/* SPDX-License-Identifier: MIT */
/*
 * Data addresses as heat maps, as JSON: address × thread and address × time, in the boxes that
 * views/pictures/memory_grid.h makes for the pictures of lode memory --plot.
 */
#pragma once

#include "views/pictures/memory_grid.h"

#include <stdio.h>

/*
 * Writes the samples whose numbers are given, ascending, to `out`; the profile has memory;
 * `granularity` is in bytes, a power of two. Boxes without weight are left out. Addresses are text.
 * Errors: _IO, _CANCELLED.
 */
bool lode_memory_heat_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	uint64_t granularity, const LodeProgress *progress, FILE *out, GError **error);

/*
 * A part of them, to scale, for a picture that is moved about: the same members, but for the head,
 * the notes, the segments and the times of all, and "names": where in the part the heaviest objects
 * were accessed. Errors: _IO, _CANCELLED.
 */
bool lode_memory_heat_write_part(const LodeProfile *profile, const LodeMemoryGridParts *parts,
	const LodeMemoryGridPart *part, const LodeProgress *progress, FILE *out, GError **error);
