/* SPDX-License-Identifier: MIT */
#include "views/memory/memory_totals.h"

#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"

#include <math.h>

typedef struct {
	LodeTotalsCells cells;
} Cells;

static const LodeColumn columns[] = {LODE_TOTALS_COLUMNS(Cells, cells, 0, 0, 0, 0)};
const LodeColumns lode_totals_columns = LODE_COLUMNS("totals", columns, Cells);

LodeTotalsCells lode_totals_cells(const LodeAccessTotals *totals, double whole)
{
	return (LodeTotalsCells){*totals, lode_share_of(totals->weight, whole),
		totals->n_latencies > 0 ? lode_access_totals_latency(totals) : (double)NAN};
}

void lode_totals_put(const LodeAccessTotals *totals, double whole, LodeJsonStream *json)
{
	const Cells row = {lode_totals_cells(totals, whole)};

	lode_columns_put_json(&lode_totals_columns, &row, json);
}

const char *lode_totals_weight_text(const LodeMemoryNotes *notes)
{
	if (notes->n_events > 0)
		return notes->event_names;
	return notes->n_faults > 0 ? "page faults" : "none";
}
