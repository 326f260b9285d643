/* SPDX-License-Identifier: MIT */
/*
 * The functions that no signature explains (docs/use/classify.md §5).
 * Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/sequence_fit.h"

/* Finds the places of a fit of all executions, and takes them out of what is executed: even unknown
 * code moves and adds like any other. */
void lode_unknown_places_find(LodeClassifying *self, const LodeSequenceFit *fit);
