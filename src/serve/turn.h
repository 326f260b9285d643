/* SPDX-License-Identifier: MIT */
/*
 * A lock for work that one client does for all, such as mining a run or reading a file. Waiting for
 * it can be cancelled, when the client of a query has disconnected; waiting for a mutex cannot.
 * Private to serve/.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct {
	GMutex lock; /* of the fields below */
	GCond is_over;
	bool is_taken;
} LodeTurn;

void lode_turn_init(LodeTurn *self);
void lode_turn_clear(LodeTurn *self); /* it must not be held or waited for */

/* Waits until it is free, and takes it. Errors: _CANCELLED. */
bool lode_turn_take(LodeTurn *self, const LodeProgress *progress, GError **error);
void lode_turn_give(LodeTurn *self);
