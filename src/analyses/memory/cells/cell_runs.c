/* SPDX-License-Identifier: MIT */
/* Neighbouring cells as runs. */
#include "analyses/memory/cells/cell_runs.h"

#include "model/index.h"
#include "model/memory.h"

#include <string.h>

enum {
	MAXIMUM_GAP = 16, /* cells without a sample that do not end a run: sampling misses some */
	LIKENESS = 4,     /* hot cells of one run are within this factor of their mean */
};

static const double hot_share = 0.01; /* of all weight; cells below it are not distinguished */

typedef struct {
	const LodeProfile *profile;
	const LodeCellContents *contents;
	uint64_t granularity;
	double total;
	LodeContent last; /* of the run's last cell */
	bool is_hot;
} Finder;

/* Whether two contents belong together: a type's members do, two variables do not. */
static bool is_kin(const Finder *self, const LodeContent *left, const LodeContent *right)
{
	const GArray *objects = lode_memory_of(self->profile)->objects;

	if (left->object == right->object)
		return true;
	if (left->object >= objects->len || right->object >= objects->len)
		return false;
	const LodeDataObject *a = &LODE_AT(objects, LodeDataObject, left->object);
	const LodeDataObject *b = &LODE_AT(objects, LodeDataObject, right->object);
	if (a->layer != b->layer)
		return false;
	if (a->layer == LODE_LAYER_TYPE)
		return a->type == b->type;
	return a->layer == LODE_LAYER_MAPPING;
}

static bool is_alike(const LodeCellRun *run, const LodeHistogramCell *cell)
{
	double mean = run->weight / (double)run->n_cells;

	return cell->weight <= mean * LIKENESS && cell->weight >= mean / LIKENESS;
}

static bool continues(const Finder *self, const LodeCellRun *run, const LodeHistogramCell *cell,
	const LodeContent *content)
{
	bool is_hot = cell->weight >= hot_share * self->total;

	if (cell->thread != run->thread || is_hot != self->is_hot)
		return false;
	if ((cell->address - run->last - 1) / self->granularity > MAXIMUM_GAP)
		return false;
	if (strcmp(lode_content_mapping_name(self->profile, &self->last),
		    lode_content_mapping_name(self->profile, content)) != 0)
		return false;
	return !is_hot || (is_alike(run, cell) && is_kin(self, &self->last, content));
}

static void extend(LodeCellRun *run, const LodeHistogramCell *cell, uint64_t granularity)
{
	run->last = cell->address + (granularity - 1);
	run->n_cells++;
	run->n_accesses += cell->n_accesses;
	run->n_loads += cell->n_loads;
	run->n_stores += cell->n_stores;
	run->weight += cell->weight;
}

GArray *lode_cell_runs_find(const LodeProfile *profile, const LodeHistogramCell *cells, size_t n,
	const LodeCellContents *contents, uint64_t granularity, double total)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(LodeCellRun));
	Finder finder = {profile, contents, granularity, total, {LODE_NONE, LODE_NONE, 0}, false};
	LodeCellRun *run = NULL;

	for (size_t i = 0; i < n; i++) {
		LodeContent content = lode_cell_contents_main(
			contents, cells[i].thread, cells[i].address);
		if (run == NULL || !continues(&finder, run, &cells[i], &content)) {
			LodeCellRun fresh = {.first = cells[i].address,
				.first_cell = i,
				.thread = cells[i].thread};
			g_array_append_val(runs, fresh);
			run = &LODE_AT(runs, LodeCellRun, runs->len - 1);
			finder.is_hot = cells[i].weight >= hot_share * total;
		}
		extend(run, &cells[i], granularity);
		finder.last = content;
	}
	return runs;
}

uint64_t lode_cell_run_span(const LodeCellRun *self, uint64_t granularity)
{
	return (self->last - self->first) / granularity + 1;
}
