/* SPDX-License-Identifier: MIT */
/*
 * The contributions of origins, as rows with the numbers of the merged profile, added up in that
 * profile.
 *
 * Private to analyses/merge/.
 */
#pragma once

#include "model/code.h"

typedef struct LodeOriginParts LodeOriginParts;

/* An edge of one origin, also those that become a next_count: to the instruction after its source,
 * of kind fall-through or given. */
typedef struct {
	LodeEdge edge;
	uint32_t origin;
} LodeOriginEdgePart;

/*
 * Fills costs, cost_starts, edges and next_counts of the profile, whose instructions and
 * origin_parts' counts and costs are there, and the parts' edges and next_counts. `edges` are
 * LodeOriginEdgePart, in any order, and are sorted. Counts are then by instruction and origin.
 */
void lode_origin_rows_add_up(LodeProfile *merged, GArray *edges);

/* Fills costs and cost_starts anew from the parts' costs of the chosen origins; NULL: of all. The
 * rows are then by instruction. */
void lode_origin_rows_add_up_costs(LodeProfile *merged, const bool *is_chosen);

/* For a part of a merged profile: the excess of its totals over its instructions is added as
 * unresolved. */
void lode_origin_rows_add_missing(LodeProfile *profile);

/* All rows in the order of LodeOriginParts. */
void lode_origin_rows_sort(LodeOriginParts *parts);
