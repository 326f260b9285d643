/* SPDX-License-Identifier: MIT */
/* The columns that groups of memory samples have in every view. */
#pragma once

#include "analyses/memory/access_totals.h"
#include "views/form/row_stream.h"
#include "views/memory/memory_notes.h"

typedef enum {
	LODE_TOTALS_WEIGHT, /* as a share */
	LODE_TOTALS_SAMPLES,
	LODE_TOTALS_LOADS,
	LODE_TOTALS_STORES,
	LODE_TOTALS_LATENCY, /* mean */
	LODE_N_TOTALS,
} LodeTotalsColumn;

/* Appends the cell of a table; `whole` is the weight that shares are of. */
void lode_totals_append(
	const LodeAccessTotals *totals, LodeTotalsColumn column, double whole, GString *out);

/* Columns "samples", "loads", "stores", "weight", "share", "mean_latency" (none: not recorded) of a
 * row that is begun, or members of an open object of JSON. */
void lode_totals_put(const LodeAccessTotals *totals, double whole, LodeRowStream *rows);

/* The name of the weight: the names of the events, "page faults" where there is nothing else,
 * "none". */
const char *lode_totals_weight_text(const LodeMemoryNotes *notes);
