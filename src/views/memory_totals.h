/* SPDX-License-Identifier: MIT */
/* The columns that groups of memory samples have in every view. */
#pragma once

#include "analyses/memory/access_totals.h"
#include "views/csv.h"
#include "base/json_stream.h"
#include "views/memory_notes.h"

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

/* Members "samples", "loads", "stores", "weight", "share", "mean_latency" (null: none recorded) of
 * an open object. */
void lode_totals_json(const LodeAccessTotals *totals, double whole, LodeJsonStream *json);

/* The same as cells, and their titles. */
void lode_totals_csv(const LodeAccessTotals *totals, double whole, LodeCsv *csv);
void lode_totals_csv_titles(LodeCsv *csv);

/* What is added up: the names of the events, "page faults" where there is nothing else, "none". */
const char *lode_totals_weight_text(const LodeMemoryNotes *notes);
