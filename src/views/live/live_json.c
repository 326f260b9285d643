/* SPDX-License-Identifier: MIT */
#include "views/live/live_json.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "views/form/function_name.h"
#include "views/live/live_drawing.h"

#include <stdlib.h>

enum { MAX_FUNCTIONS = 20 };

/* [[start, end, extent], …] */
static void put_columns(LodeJsonStream *json, const LodeLiveScene *scene)
{
	const LodeLiveColumns *columns = &scene->columns;

	lode_json_member_begin(json, "extents", '[');
	for (guint i = 0; i < columns->extents->len; i++)
		lode_json_string(json, g_array_index(columns->extents, LodeLiveExtent, i).mapping);
	lode_json_end(json, ']');
	lode_json_member_begin(json, "columns", '[');
	for (guint i = 0; i < columns->columns->len; i++) {
		const LodeLiveColumn *column = &g_array_index(columns->columns, LodeLiveColumn, i);
		lode_json_begin(json, '[');
		lode_json_address(json, column->start);
		lode_json_address(json, column->end - 1);
		lode_json_number(json, column->extent);
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
}

static void put_threads(LodeJsonStream *json, const LodeLiveScene *scene)
{
	lode_json_member_begin(json, "threads", '[');
	for (guint i = 0; i < scene->known_threads->len; i++) {
		const LodeLiveThread *thread = &g_array_index(
			scene->known_threads, LodeLiveThread, i);
		if (thread->n_samples == 0)
			continue;
		lode_json_begin(json, '{');
		lode_json_member_number(json, "number", i);
		lode_json_member_string(json, "label", thread->label);
		lode_json_member_string(json, "name", thread->name);
		lode_json_member_number(json, "tid", thread->tid);
		lode_json_member_number(json, "samples", (double)thread->n_samples);
		lode_json_member_number(json, "accesses", (double)thread->n_accesses);
		lode_json_member_number(json, "lost", (double)thread->n_lost);
		lode_json_member_bool(json, "has_ended", thread->has_ended);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* "thread" null: all together. */
static void put_rows(LodeJsonStream *json, const LodeLiveScene *scene)
{
	lode_json_member_begin(json, "rows", '[');
	for (guint i = 0; i < scene->rows->len; i++) {
		const LodeLiveRow *row = &g_array_index(scene->rows, LodeLiveRow, i);
		const LodeLiveThread *thread = row->thread != UINT32_MAX
		                                       ? &g_array_index(scene->known_threads,
								 LodeLiveThread, row->thread)
		                                       : NULL;
		lode_json_begin(json, '{');
		lode_json_member_string(json, "thread", thread != NULL ? thread->label : NULL);
		lode_json_member_number(json, "sum", row->sum);
		lode_json_member_begin(json, "columns", '[');
		for (guint j = 0; j < scene->columns.columns->len; j++)
			lode_json_number(json, row->columns[j]);
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_ranges(LodeJsonStream *json, const LodeLiveScene *scene)
{
	lode_json_member_begin(json, "ranges", '[');
	for (guint i = 0; i < MIN(scene->ranges->len, scene->n_visible_ranges); i++) {
		const LodeHotRange *range = &g_array_index(scene->ranges, LodeHotRange, i);
		guint n_kept = MIN(range->n_threads, LODE_LIVE_THREADS_OF_RANGE);
		lode_json_begin(json, '{');
		lode_json_member_address(json, "address", range->address);
		lode_json_member_number(
			json, "share", scene->total > 0 ? range->measure / scene->total : 0);
		lode_json_member_number(json, "loads", (double)range->n_loads);
		lode_json_member_number(json, "stores", (double)range->n_stores);
		lode_json_member_begin(json, "threads", '[');
		for (guint j = 0; j < n_kept; j++)
			lode_json_string(json, g_array_index(scene->known_threads, LodeLiveThread,
						       range->threads[j])
						       .label);
		lode_json_end(json, ']');
		lode_json_member_bool(json, "has_more_threads", range->n_threads > n_kept);
		lode_function_name_json(json, "object", range->object);
		lode_function_name_json(json, "function", range->function);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

typedef struct {
	const char *name;
	double weight;
} Function;

LODE_ORDER(heaviest_first, Function, LODE_DESCENDING(weight), g_strcmp0(left->name, right->name))

static void put_functions(LodeJsonStream *json, const LodeLiveModel *model)
{
	g_autoptr(GArray) functions = g_array_new(FALSE, FALSE, sizeof(Function));
	GHashTableIter iterator;
	void *name, *weight;

	g_hash_table_iter_init(&iterator, model->functions);
	while (g_hash_table_iter_next(&iterator, &name, &weight)) {
		Function one = {name, *(double *)weight};
		g_array_append_val(functions, one);
	}
	g_array_sort(functions, heaviest_first);
	lode_json_member_begin(json, "functions", '[');
	for (guint i = 0; i < MIN(functions->len, MAX_FUNCTIONS); i++) {
		const Function *one = &g_array_index(functions, Function, i);
		lode_json_begin(json, '{');
		lode_function_name_json(json, "name", one->name);
		lode_json_member_number(
			json, "share", model->weight > 0 ? one->weight / model->weight : 0);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_status(LodeJsonStream *json, const LodeLiveJsonOptions *options)
{
	const LodeLiveStatus *status = &options->status;

	lode_json_member_string(json, "program", status->program);
	lode_json_member_bool(json, "is_over", options->is_over);
	lode_json_member_number(json, "seconds", status->seconds);
	lode_json_member_number(json, "samples", (double)status->n_samples);
	lode_json_member_number(json, "samples_per_second", status->samples_per_second);
	lode_json_member_number(json, "accesses", (double)status->n_accesses);
	lode_json_member_number(json, "lost", (double)status->n_lost);
	lode_json_member_string(json, "reason", status->reason);
	lode_json_member_number(json, "dropped", (double)status->n_dropped);
	lode_json_member_bool(json, "is_sampling", status->is_sampling);
	lode_json_member_bool(json, "is_stall_weighted", status->is_stall_weighted);
}

void lode_live_json_put(
	LodeJsonStream *json, const LodeLiveModel *model, const LodeLiveJsonOptions *options)
{
	const LodeLiveRoom room = {options->width, options->height, options->height};
	g_auto(LodeLiveScene) scene;

	lode_live_scene_init(&scene, model->counts, model->threads, options->state, &room);
	lode_json_begin(json, '{');
	put_status(json, options);
	lode_json_member_number(json, "granularity", (double)scene.granularity);
	lode_json_member_number(json, "total", scene.total);
	lode_json_member_number(json, "seen", scene.seen);
	lode_json_member_number(json, "hottest", scene.hottest);
	put_columns(json, &scene);
	g_autofree char *lost_threads = lode_live_lost_threads(model->threads);
	lode_json_member_string(json, "lost_threads", lost_threads);
	put_threads(json, &scene);
	put_rows(json, &scene);
	put_ranges(json, &scene);
	put_functions(json, model);
	lode_json_key(json, "findings");
	lode_live_findings_put(options->findings, json);
	lode_json_end(json, '}');
}
