/* SPDX-License-Identifier: MIT */
/*
 * What one client at a time does for all, as mining a run or reading a file: the others wait for
 * their turn, and stop waiting when whoever asked them has gone. A mutex cannot be left.
 * Private to serve/.
 */
#pragma once

#include "base/progress.h"

typedef struct {
	GMutex lock; /* of what follows */
	GCond is_over;
	bool is_taken;
} LodeTurn;

void lode_turn_init(LodeTurn *self);
void lode_turn_clear(LodeTurn *self); /* nobody may have it or wait for it */

/* Waits until nobody has it. Errors: _CANCELLED. */
bool lode_turn_take(LodeTurn *self, const LodeProgress *progress, GError **error);
void lode_turn_give(LodeTurn *self);
