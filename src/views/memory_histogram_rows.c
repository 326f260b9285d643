/* SPDX-License-Identifier: MIT */
/* Every cell of a histogram, as JSON and as CSV. */
#include "views/csv.h"
#include "views/memory_histogram_tables.h"
#include "views/memory_names.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"

#include <string.h>

static const char *object_name(const LodeProfile *profile, const LodeContent *content)
{
	const GArray *objects = profile->memory->objects;

	return content->object < objects->len
	               ? LODE_AT(objects, LodeDataObject, content->object).name
	               : NULL;
}

/* NULL where it is unknown; "?" is for the screen. */
static const char *mapping_name(const LodeProfile *profile, const LodeContent *content)
{
	const char *name = lode_content_mapping_name(profile, content);

	return strcmp(name, "?") != 0 ? name : NULL;
}

static void put_json_cell(const LodeHistogramTables *self, const LodeHistogramTable *table,
	size_t index, LodeJsonStream *json)
{
	const LodeHistogramCell *cell = &table->cells[index];
	LodeContent content = lode_cell_contents_main(self->contents, cell->thread, cell->address);
	char address[LODE_ADDRESS_TEXT_SIZE];

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "address", lode_memory_address_text(cell->address, address));
	lode_json_member_number(json, "accesses", (double)cell->n_accesses);
	lode_json_member_number(json, "loads", (double)cell->n_loads);
	lode_json_member_number(json, "stores", (double)cell->n_stores);
	lode_json_member_number(json, "weight", cell->weight);
	lode_json_member_number(json, "share", lode_share_of(cell->weight, self->notes.weight));
	lode_json_member_string(json, "object", object_name(self->profile, &content));
	lode_json_member_string(json, "mapping", mapping_name(self->profile, &content));
	lode_json_end(json, '}');
}

/* The members of a table, in an open object. */
static void put_json_table(
	const LodeHistogramTables *self, const LodeHistogramTable *table, LodeJsonStream *json)
{
	g_autoptr(GArray) order = lode_histogram_sorted_cells(self, table);

	lode_json_member_number(json, "accesses", (double)table->n_accesses);
	lode_json_member_number(json, "weight", table->weight);
	lode_json_member_number(json, "share", lode_share_of(table->weight, self->notes.weight));
	lode_json_member_number(json, "n_cells", (double)table->n_cells);
	lode_json_key(json, "cells");
	lode_json_begin(json, '[');
	for (guint i = 0; i < order->len; i++)
		put_json_cell(self, table, g_array_index(order, size_t, i), json);
	lode_json_end(json, ']');
}

static void put_json_threads(const LodeHistogramTables *self, LodeJsonStream *json)
{
	lode_json_line(json);
	lode_json_key(json, "threads");
	lode_json_begin(json, '[');
	for (guint i = 0; i < self->threads->len; i++) {
		const LodeHistogramTable *table = &LODE_AT(self->threads, LodeHistogramTable, i);
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_memory_thread_json(json, self->profile, table->thread);
		put_json_table(self, table, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

void lode_memory_histogram_json(const LodeHistogramTables *self, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, self->profile);
	lode_json_line(&json);
	lode_json_member_number(&json, "granularity", (double)self->options->granularity);
	lode_json_line(&json);
	lode_memory_notes_json(&self->notes, &json);
	if (self->options->scope != LODE_HISTOGRAM_BY_THREAD) {
		lode_json_line(&json);
		lode_json_key(&json, "together");
		lode_json_begin(&json, '{');
		put_json_table(self, &self->together, &json);
		lode_json_end(&json, '}');
	}
	if (self->options->scope != LODE_HISTOGRAM_TOGETHER)
		put_json_threads(self, &json);
	lode_json_end(&json, '}');
}

static void put_csv_thread(const LodeProfile *profile, uint32_t thread, LodeCsv *csv)
{
	if (thread >= profile->memory->threads->len) {
		for (int i = 0; i < 4; i++)
			lode_csv_text(csv, NULL);
		return;
	}
	const LodeThread *row = &LODE_AT(profile->memory->threads, LodeThread, thread);
	g_autofree char *label = lode_memory_thread_label(profile, thread);
	lode_csv_text(csv, label);
	lode_csv_number(csv, row->pid);
	lode_csv_number(csv, row->tid);
	lode_csv_text(csv, row->name);
}

static void put_csv_cell(
	const LodeHistogramTables *self, const LodeHistogramCell *cell, LodeCsv *csv)
{
	LodeContent content = lode_cell_contents_main(self->contents, cell->thread, cell->address);
	char address[LODE_ADDRESS_TEXT_SIZE];

	put_csv_thread(self->profile, cell->thread, csv);
	lode_csv_text(csv, lode_memory_address_text(cell->address, address));
	lode_csv_number(csv, (double)self->options->granularity);
	lode_csv_number(csv, (double)cell->n_accesses);
	lode_csv_number(csv, (double)cell->n_loads);
	lode_csv_number(csv, (double)cell->n_stores);
	lode_csv_number(csv, cell->weight);
	lode_csv_number(csv, lode_share_of(cell->weight, self->notes.weight));
	lode_csv_text(csv, object_name(self->profile, &content));
	lode_csv_text(csv, mapping_name(self->profile, &content));
	lode_csv_end_row(csv);
}

static void put_csv_table(
	const LodeHistogramTables *self, const LodeHistogramTable *table, LodeCsv *csv)
{
	g_autoptr(GArray) order = lode_histogram_sorted_cells(self, table);

	for (guint i = 0; i < order->len; i++)
		put_csv_cell(self, &table->cells[g_array_index(order, size_t, i)], csv);
}

/* Cells of threads, or of all together; never both, which would count all twice. */
void lode_memory_histogram_csv(const LodeHistogramTables *self, FILE *out)
{
	static const char *const titles[] = {"thread", "pid", "tid", "name", "address", "bytes",
		"accesses", "loads", "stores", "weight", "share", "object", "mapping"};
	LodeCsv csv;

	lode_csv_init(&csv, out);
	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(&csv, titles[i]);
	lode_csv_end_row(&csv);
	if (self->options->scope == LODE_HISTOGRAM_TOGETHER) {
		put_csv_table(self, &self->together, &csv);
		return;
	}
	for (guint i = 0; i < self->threads->len; i++)
		put_csv_table(self, &LODE_AT(self->threads, LodeHistogramTable, i), &csv);
}
