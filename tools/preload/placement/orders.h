/* SPDX-License-Identifier: MIT */
/* The orders for this process: the file that lode wrote. */
#pragma once

#include "record/placement/placement_orders.h"

/* NULL where nothing is placed: in other programs than the one that lode started, in what that
 * forks, and when the file is missing. */
PlacementOrders *placement_orders(void);

static inline void *placement_orders_at(PlacementOrders *self, uint64_t offset)
{
	return (char *)self + offset;
}

/* Reads them, the first time: when the library is loaded, or another library creates a thread
 * before. */
void placement_orders_begin(void);

/* Back to the processors that lode had when it started the program. */
void placement_orders_unbind(void);

/* The mask of processors, 0: done, or an errno. */
int placement_orders_bind(const PlacementMask *mask);
