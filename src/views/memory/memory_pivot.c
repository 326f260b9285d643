/* SPDX-License-Identifier: MIT */
/* The result of a pivot, in three forms. */
#include "views/memory/memory_pivot.h"

#include "model/index.h"
#include "views/code/function_name.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_document.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_figures.h"

typedef struct {
	const LodePivot *pivot;
	const LodeTerminal *terminal;
	LodeTotalsColumn totals[LODE_N_TOTALS];
	unsigned n_totals;
} Table;

static const LodePivotRow *row_at(const LodePivot *pivot, size_t row)
{
	return &g_array_index(pivot->rows, LodePivotRow, row);
}

static void append_name(const Table *self, const LodePivotRow *row, GString *out)
{
	g_autoptr(GString) name = g_string_new(NULL);

	lode_pivot_append_name(self->pivot, row, name);
	g_string_append_printf(out, "%*s", (int)(2 * row->level), "");
	lode_function_name_append(out, name->str, self->terminal);
}

static LodeStyle pivot_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodePivotRow *row = row_at(self->pivot, number);
	bool is_first = row->level == 0;

	if (column < self->n_totals) {
		lode_totals_append(
			&row->totals, self->totals[column], self->pivot->total.weight, out);
		return column == 0 && is_first ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	}
	append_name(self, row, out);
	if (row->kind != LODE_PIVOT_VALUE)
		return LODE_STYLE_FAINT;
	return is_first ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

/* "type, then line" */
static char *levels_text(const LodePivot *pivot)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < pivot->n_levels; i++)
		g_string_append_printf(text, "%s%s", i > 0 ? ", then " : "", pivot->titles[i]);
	return g_string_free(text, FALSE);
}

static void write_table(const LodeMemoryDocument *document, const LodeTerminal *terminal, FILE *out)
{
	const LodePivot *pivot = document->result;
	static const LodeTableColumn known[LODE_N_TOTALS] = {
		[LODE_TOTALS_WEIGHT] = {"weight"},
		[LODE_TOTALS_SAMPLES] = {"samples", .dropped = 1},
		[LODE_TOTALS_LOADS] = {"loads", .dropped = 2},
		[LODE_TOTALS_STORES] = {"stores", .dropped = 3},
		[LODE_TOTALS_LATENCY] = {"latency", .dropped = 4},
	};
	g_autofree char *levels = levels_text(pivot);
	g_autofree char *title = lode_display_text(levels, terminal->is_ascii);
	LodeTableColumn columns[LODE_N_TOTALS + 1];
	Table self = {.pivot = pivot, .terminal = terminal};

	for (unsigned i = 0; i < LODE_N_TOTALS; i++) {
		if (i == LODE_TOTALS_LATENCY && pivot->total.n_latencies == 0)
			continue;
		columns[self.n_totals] = known[i];
		self.totals[self.n_totals++] = (LodeTotalsColumn)i;
	}
	columns[self.n_totals] = (LodeTableColumn){title, .is_text = true};
	LodeTable table = {columns, self.n_totals + 1, pivot->rows->len, pivot_cell, &self};
	lode_table_write(&table, terminal, out);
}

static void put_json_key(const LodePivot *pivot, const LodePivotRow *row, LodeJsonStream *json)
{
	g_autoptr(GString) text = g_string_new(NULL);
	bool is_exact = row->key.kind == LODE_VALUE_INTEGER && !pivot->is_hex[row->level] &&
	                row->key.integer <= (LodeInteger)1 << 53 &&
	                row->key.integer >= -((LodeInteger)1 << 53);

	if (row->kind != LODE_PIVOT_VALUE) {
		lode_json_string(json, NULL);
	} else if (is_exact || row->key.kind == LODE_VALUE_REAL) {
		lode_json_number(json, lode_value_to_double(&row->key));
	} else {
		lode_pivot_append_name(pivot, row, text);
		lode_json_string(json, text->str);
	}
}

/* The rows above one and itself, by level. */
static unsigned find_path(const LodePivot *pivot, const LodePivotRow *row,
	const LodePivotRow *path[LODE_PIVOT_MAX_LEVELS])
{
	unsigned n = row->level + 1;

	for (; row->parent != LODE_NONE; row = row_at(pivot, row->parent))
		path[row->level] = row;
	path[row->level] = row;
	return n;
}

static const char *const kind_words[] = {"value", "others", "none"};

/* A row has the keys of those above it: a list in JSON, in CSV a column for each level. */
static void put_row(const LodeMemoryDocument *document, size_t number, LodeRowStream *rows)
{
	const LodePivotRow none = {.kind = LODE_PIVOT_OTHERS, .parent = LODE_NONE};
	const LodePivot *pivot = document->result;
	const LodePivotRow *row = number == SIZE_MAX ? &none : row_at(pivot, number);
	const LodePivotRow *path[LODE_PIVOT_MAX_LEVELS];
	unsigned n = find_path(pivot, row, path);

	lode_row_begin(rows);
	lode_row_number(rows, "level", row->level);
	lode_row_text(rows, "kind", kind_words[row->kind]);
	if (rows->json != NULL) {
		lode_json_key(rows->json, "keys");
		lode_json_begin(rows->json, '[');
		for (unsigned i = 0; i < n; i++)
			put_json_key(pivot, path[i], rows->json);
		lode_json_end(rows->json, ']');
		if (row->kind == LODE_PIVOT_OTHERS)
			lode_json_member_number(rows->json, "others", row->n_others);
		if (row->kind == LODE_PIVOT_VALUE) {
			g_autoptr(GString) text = g_string_new(NULL);
			lode_pivot_append_name(pivot, row, text);
			lode_function_name_json_short(rows->json, "key", text->str);
		}
	}
	for (unsigned i = 0; rows->json == NULL && i < pivot->n_levels; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		bool has_key = i < n && path[i]->kind == LODE_PIVOT_VALUE;
		if (has_key)
			lode_pivot_append_name(pivot, path[i], text);
		lode_row_csv_text(rows, pivot->titles[i], has_key ? text->str : NULL);
	}
	lode_totals_put(&row->totals, pivot->total.weight, rows);
	lode_row_end(rows);
}

static void put_levels(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodePivot *pivot = document->result;

	lode_json_key(json, "by");
	lode_json_begin(json, '[');
	for (unsigned i = 0; i < pivot->n_levels; i++)
		lode_json_string(json, pivot->titles[i]);
	lode_json_end(json, ']');
	lode_json_line(json);
}

static void put_total(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodePivot *pivot = document->result;
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_key(json, "total");
	lode_json_begin(json, '{');
	lode_totals_put(&pivot->total, pivot->total.weight, &rows);
	lode_json_end(json, '}');
	lode_json_line(json);
}

bool lode_memory_pivot_write(const LodeProfile *profile, const LodePivot *pivot,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.write_table = write_table,
		.put_before = put_levels,
		.put_after = put_total,
		.put_row = put_row,
	};
	g_autofree char *levels = levels_text(pivot);
	g_autofree char *subject = g_strdup_printf("samples by %s", levels);
	const LodeMemoryDocument document = {
		&parts, profile, pivot, subject, "No samples.", pivot->rows->len, .has_head = true};

	return lode_memory_document_write(&document, options, out, error);
}
