/* SPDX-License-Identifier: MIT */
/*
 * The control flow of one function as it was executed, as JSON: its blocks with their executions
 * and weight, the edges between them with their counts, its callers and its callees.
 */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint64_t function;
	uint32_t weight_event; /* LODE_NONE: none */
	/*
	 * Where more blocks ran than `limit` (0: no limit), the blocks nearest to one of them are
	 * written: breadth first along the edges in both directions, at each distance those that
	 * ran most often first. They are those around the block with the address `around`, or
	 * around the costliest.
	 */
	uint64_t around;
	bool has_around;
	uint32_t limit;
} LodeFunctionGraphOptions;

/*
 * Writes to `out`. Addresses are text, as those of lode annotate. Edges lead between the blocks
 * that are written; a block's others are counted in "edges_left_out". Callers and callees are the
 * costliest hundred, by count, falling, with their number in all. Errors: _NOT_FOUND (no such
 * function), _IO.
 */
bool lode_function_graph_write(const LodeProfile *profile, const LodeFunctionGraphOptions *options,
	FILE *out, GError **error);
