/* SPDX-License-Identifier: MIT */
#include "views/memory/memory_totals.h"

#include "base/text/number_format.h"
#include "views/profile/profile_figures.h"

#include <math.h>

void lode_totals_append(
	const LodeAccessTotals *totals, LodeTotalsColumn column, double whole, GString *out)
{
	const double counts[LODE_N_TOTALS] = {
		[LODE_TOTALS_SAMPLES] = (double)totals->n_samples,
		[LODE_TOTALS_LOADS] = (double)totals->n_loads,
		[LODE_TOTALS_STORES] = (double)totals->n_stores,
		[LODE_TOTALS_LATENCY] = lode_access_totals_latency(totals),
	};
	char text[LODE_NUMBER_SIZE];

	if (column == LODE_TOTALS_WEIGHT)
		lode_number_format_share(lode_share_of(totals->weight, whole), text);
	else
		lode_number_format_count(counts[column], text);
	if (column != LODE_TOTALS_LATENCY || totals->n_latencies > 0)
		g_string_append(out, text);
}

void lode_totals_put(const LodeAccessTotals *totals, double whole, LodeRowStream *rows)
{
	lode_row_number(rows, "samples", (double)totals->n_samples);
	lode_row_number(rows, "loads", (double)totals->n_loads);
	lode_row_number(rows, "stores", (double)totals->n_stores);
	lode_row_number(rows, "weight", totals->weight);
	lode_row_number(rows, "share", lode_share_of(totals->weight, whole));
	lode_row_number(rows, "mean_latency",
		totals->n_latencies > 0 ? lode_access_totals_latency(totals) : (double)NAN);
}

const char *lode_totals_weight_text(const LodeMemoryNotes *notes)
{
	if (notes->n_events > 0)
		return notes->event_names;
	return notes->n_faults > 0 ? "page faults" : "none";
}
