/* SPDX-License-Identifier: MIT */
/*
 * Data addresses as heat maps, as JSON: address × thread and address × time, in the boxes that
 * views/plot/memory_grid.h makes for the pictures of lode memory --plot.
 */
#pragma once

#include "model/profile.h"

#include <stdio.h>

/*
 * Writes the samples whose numbers are given, ascending, to `out`; the profile has memory;
 * `granularity` is in bytes, a power of two. Boxes without weight are left out. Addresses are text.
 * Errors: _IO.
 */
bool lode_memory_heat_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	uint64_t granularity, FILE *out, GError **error);
