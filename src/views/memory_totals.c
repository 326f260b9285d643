/* SPDX-License-Identifier: MIT */
#include "views/memory_totals.h"

#include "base/number_format.h"
#include "views/profile_figures.h"

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

static double mean_latency(const LodeAccessTotals *totals)
{
	return totals->n_latencies > 0 ? lode_access_totals_latency(totals) : (double)NAN;
}

void lode_totals_json(const LodeAccessTotals *totals, double whole, LodeJsonStream *json)
{
	lode_json_member_number(json, "samples", (double)totals->n_samples);
	lode_json_member_number(json, "loads", (double)totals->n_loads);
	lode_json_member_number(json, "stores", (double)totals->n_stores);
	lode_json_member_number(json, "weight", totals->weight);
	lode_json_member_number(json, "share", lode_share_of(totals->weight, whole));
	lode_json_member_number(json, "mean_latency", mean_latency(totals));
}

void lode_totals_csv(const LodeAccessTotals *totals, double whole, LodeCsv *csv)
{
	lode_csv_number(csv, (double)totals->n_samples);
	lode_csv_number(csv, (double)totals->n_loads);
	lode_csv_number(csv, (double)totals->n_stores);
	lode_csv_number(csv, totals->weight);
	lode_csv_number(csv, lode_share_of(totals->weight, whole));
	lode_csv_number(csv, mean_latency(totals));
}

void lode_totals_csv_titles(LodeCsv *csv)
{
	static const char *const titles[] = {
		"samples", "loads", "stores", "weight", "share", "mean_latency"};

	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(csv, titles[i]);
}

const char *lode_totals_weight_text(const LodeMemoryNotes *notes)
{
	if (notes->n_events > 0)
		return notes->event_names;
	return notes->n_faults > 0 ? "page faults" : "none";
}
