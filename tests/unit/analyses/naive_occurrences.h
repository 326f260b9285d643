/* SPDX-License-Identifier: MIT */
/* The twin of lode_occurrences_find(), from the naive miner's list of all paths. */
#pragma once

#include "analyses/mine/occurrences.h"

LodeOccurrences *naive_occurrences_find(const LodeFlowGraph *graph,
	const LodeMiningParameters *parameters, const uint32_t *items, size_t n_items);
void naive_occurrences_free(LodeOccurrences *self);
