/* SPDX-License-Identifier: MIT */
/* The result of a pivot, in three forms. */
#include "views/memory/memory_views.h"

#include "model/index.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/memory/memory_document.h"
#include "views/memory/memory_totals.h"

static const char *const kind_words[] = {"value", "others", "none"};

typedef struct {
	LodePivotRow of;
	LodeTotalsCells cells;
	LodeStyle weight_style, name_style;
	char *name;
	char *keys[LODE_PIVOT_MAX_LEVELS]; /* of the rows above and its own */
} Row;

static const LodePivotRow *row_at(const LodePivot *pivot, size_t row)
{
	return &g_array_index(pivot->rows, LodePivotRow, row);
}

/* "type, then line" */
static char *levels_text(const LodePivot *pivot)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < pivot->n_levels; i++)
		g_string_append_printf(text, "%s%s", i > 0 ? ", then " : "", pivot->titles[i]);
	return g_string_free(text, FALSE);
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

static char *name_of(const LodePivot *pivot, const LodePivotRow *row)
{
	GString *name = g_string_new(NULL);

	lode_pivot_append_name(pivot, row, name);
	return g_string_free(name, FALSE);
}

/* A row has the keys of those above it: a list in JSON, in CSV a column for each level. */
static void put_keys(LodeJsonStream *json, const void *row, const void *user_data)
{
	const Row *self = row;
	const LodePivot *pivot = ((const LodeMemoryDocument *)user_data)->result;
	const LodePivotRow *path[LODE_PIVOT_MAX_LEVELS];
	unsigned n = find_path(pivot, &self->of, path);

	lode_json_member_begin(json, "keys", '[');
	for (unsigned i = 0; i < n; i++)
		put_json_key(pivot, path[i], json);
	lode_json_end(json, ']');
	if (self->of.kind == LODE_PIVOT_OTHERS)
		lode_json_member_number(json, "others", self->of.n_others);
	if (self->of.kind == LODE_PIVOT_VALUE)
		lode_function_name_json_short(json, "key", self->name);
}

static const LodeColumn columns[] = {
	{"level", LODE_CELL_NUMBER(Row, of.level)},
	{"kind", LODE_CELL_NUMBER(Row, of.kind), .words = kind_words,
		.type = "\"value\" | \"others\" | \"none\""},
	{.put = put_keys,
		.type = "keys: (string | number | null)[]; short_key?: string; others?: number"},
	{"KEY", LODE_CELL_TEXT(Row, keys[0]), .only = LODE_IN_CSV, .is_repeated = true},
	LODE_TOTALS_COLUMNS(Row, cells, 1, 1, offsetof(Row, weight_style), 0),
	{NULL, LODE_CELL_NAME(Row, name), .titled = 1, .at = 6, .styled = offsetof(Row, name_style),
		.indented = offsetof(Row, of.level)},
};
const LodeColumns lode_memory_pivot_columns = LODE_COLUMNS("rows", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const LodePivot *pivot = ((const LodeMemoryDocument *)user_data)->result;
	const LodePivotRow *path[LODE_PIVOT_MAX_LEVELS];
	Row *row = out;

	row->of = *row_at(pivot, number);
	row->cells = lode_totals_cells(&row->of.totals, pivot->total.weight);
	row->name = name_of(pivot, &row->of);
	row->weight_style = row->of.level == 0 ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	row->name_style = row->of.kind != LODE_PIVOT_VALUE ? LODE_STYLE_FAINT
	                  : row->of.level == 0             ? LODE_STYLE_NAME
	                                                   : LODE_STYLE_PLAIN;
	for (unsigned i = find_path(pivot, &row->of, path); i-- > 0;)
		if (path[i]->kind == LODE_PIVOT_VALUE)
			row->keys[i] = name_of(pivot, path[i]);
}

static void put_levels(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodePivot *pivot = document->result;

	lode_json_member_begin(json, "by", '[');
	for (unsigned i = 0; i < pivot->n_levels; i++)
		lode_json_string(json, pivot->titles[i]);
	lode_json_end(json, ']');
	lode_json_line(json);
}

static void put_total(const LodeMemoryDocument *document, LodeJsonStream *json)
{
	const LodePivot *pivot = document->result;

	lode_json_member_begin(json, "total", '{');
	lode_totals_put(&pivot->total, pivot->total.weight, json);
	lode_json_end(json, '}');
	lode_json_line(json);
}

bool lode_memory_pivot_write(const LodeProfile *profile, const LodePivot *pivot,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	static const LodeMemoryDocumentParts parts = {
		.put_before = put_levels,
		.put_after = put_total,
	};
	g_autofree char *levels = levels_text(pivot);
	g_autofree char *title = lode_display_text(levels, options->terminal.is_ascii);
	g_autofree char *subject = g_strdup_printf("samples by %s", levels);
	LodeColumns own;
	const LodeMemoryDocument document = {&parts, profile, pivot, subject, "No samples.",
		{&own, pivot->rows->len, .fill = fill_row, .titles = {title}}, .has_head = true};

	lode_columns_repeat(&lode_memory_pivot_columns, (const char *const *)pivot->titles,
		pivot->n_levels, &own);
	bool is_written = lode_memory_document_write(&document, options, out, error);
	g_free((void *)own.columns);
	return is_written;
}
