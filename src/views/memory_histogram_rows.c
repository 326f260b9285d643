/* SPDX-License-Identifier: MIT */
/* Every cell of a histogram, as JSON and as CSV. */
#include "views/memory_histogram_tables.h"
#include "views/memory_names.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"
#include "views/row_stream.h"

#include <math.h>
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

/* In JSON the thread stands before its cells. */
static void put_thread(const LodeProfile *profile, uint32_t thread, LodeRowStream *rows)
{
	const LodeThread *row = thread < profile->memory->threads->len
	                                ? &LODE_AT(profile->memory->threads, LodeThread, thread)
	                                : NULL;
	g_autofree char *label = row != NULL ? lode_memory_thread_label(profile, thread) : NULL;

	lode_row_csv_text(rows, "thread", label);
	lode_row_csv_number(rows, "pid", row != NULL ? row->pid : (double)NAN);
	lode_row_csv_number(rows, "tid", row != NULL ? row->tid : (double)NAN);
	lode_row_csv_text(rows, "name", row != NULL ? row->name : NULL);
}

/* NULL: the line of titles. */
static void put_cell(
	const LodeHistogramTables *self, const LodeHistogramCell *cell, LodeRowStream *rows)
{
	const LodeHistogramCell none = {.thread = LODE_NONE};
	LodeContent content = {.object = LODE_NONE};
	char address[LODE_ADDRESS_TEXT_SIZE];
	bool has_cell = cell != NULL;

	cell = has_cell ? cell : &none;
	if (has_cell)
		content = lode_cell_contents_main(self->contents, cell->thread, cell->address);
	lode_row_begin(rows);
	put_thread(self->profile, cell->thread, rows);
	lode_row_text(rows, "address", lode_memory_address_text(cell->address, address));
	lode_row_csv_number(rows, "bytes", (double)self->options->granularity);
	lode_row_number(rows, "accesses", (double)cell->n_accesses);
	lode_row_number(rows, "loads", (double)cell->n_loads);
	lode_row_number(rows, "stores", (double)cell->n_stores);
	lode_row_number(rows, "weight", cell->weight);
	lode_row_number(rows, "share", lode_share_of(cell->weight, self->notes.weight));
	lode_row_text(rows, "object", has_cell ? object_name(self->profile, &content) : NULL);
	lode_row_text(rows, "mapping", has_cell ? mapping_name(self->profile, &content) : NULL);
	lode_row_end(rows);
}

static void put_cells(
	const LodeHistogramTables *self, const LodeHistogramTable *table, LodeRowStream *rows)
{
	g_autoptr(GArray) order = lode_histogram_sorted_cells(self, table);

	for (guint i = 0; i < order->len; i++)
		put_cell(self, &table->cells[g_array_index(order, size_t, i)], rows);
}

/* The members of a table, in an open object. */
static void put_json_table(
	const LodeHistogramTables *self, const LodeHistogramTable *table, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_member_number(json, "accesses", (double)table->n_accesses);
	lode_json_member_number(json, "weight", table->weight);
	lode_json_member_number(json, "share", lode_share_of(table->weight, self->notes.weight));
	lode_json_member_number(json, "n_cells", (double)table->n_cells);
	lode_json_key(json, "cells");
	lode_json_begin(json, '[');
	put_cells(self, table, &rows);
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

/* Cells of threads, or of all together; never both, which would count all twice. */
void lode_memory_histogram_csv(const LodeHistogramTables *self, FILE *out)
{
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_cell(self, NULL, &rows);
	if (self->options->scope == LODE_HISTOGRAM_TOGETHER) {
		put_cells(self, &self->together, &rows);
		return;
	}
	for (guint i = 0; i < self->threads->len; i++)
		put_cells(self, &LODE_AT(self->threads, LodeHistogramTable, i), &rows);
}
