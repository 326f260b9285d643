/* SPDX-License-Identifier: MIT */
/* Makes the orders for the preloaded library; placement_orders.h has their layout. */
#pragma once

#include "record/placement_orders.h"
#include "record/placement_run.h"

/*
 * The orders for the program at `path`, as bytes; the caller unrefs them. What nothing can be done
 * for is added to `notes`. Errors: _UNSUPPORTED, _LIMIT.
 */
GByteArray *lode_placement_orders_new(
	const LodePlacementRunOptions *options, const char *path, GPtrArray *notes, GError **error);
