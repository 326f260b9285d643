/* SPDX-License-Identifier: MIT */
/* Reading mining runs, and checking them. */
#include "base/error.h"
#include "store/json_text.h"
#include "store/profile_store.h"
#include "store/run_parameters.h"
#include "store/tables/finding_tables.h"
#include "store/tables/row_reader.h"

#include <string.h>

static void free_summary(void *data)
{
	LodeRunSummary *summary = data;

	g_free(summary->name);
	g_free(summary->weight);
	g_free(summary->parameters);
	g_free(summary);
}

/* The runs in the order they were made; `out_ids`, of int64_t, may be NULL. */
static GPtrArray *list_runs(LodeDatabase *database, GArray *out_ids, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_summary);
	uint64_t last_id = 0;
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "run",
		"SELECT id, name, weight, parameters, is_complete, seconds, sequences "
		"FROM run ORDER BY id");
	while (lode_row_reader_next(&rows)) {
		uint64_t id = lode_row_reader_integer(&rows, 0, INT32_MAX);
		LodeRunSummary *summary = g_new0(LodeRunSummary, 1);
		g_ptr_array_add(list, summary);
		summary->name = g_strdup(lode_row_reader_text(&rows, 1));
		summary->weight = g_strdup(lode_row_reader_optional_text(&rows, 2));
		summary->parameters = g_strdup(lode_row_reader_text(&rows, 3));
		summary->is_complete = lode_row_reader_integer(&rows, 4, 1) != 0;
		summary->seconds = lode_row_reader_amount(&rows, 5);
		summary->n_sequences = lode_row_reader_integer(&rows, 6, UINT32_MAX);
		if (id <= last_id)
			lode_row_reader_fail(&rows, "its id is not above the one before");
		last_id = id;
		if (out_ids != NULL)
			g_array_append_val(out_ids, id);
	}
	return lode_row_reader_finish(&rows, error) ? g_steal_pointer(&list) : NULL;
}

GPtrArray *lode_profile_store_list_runs(const char *path, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_open(path, NULL, error);
	GPtrArray *list = database != NULL ? list_runs(database, NULL, error) : NULL;

	if (list == NULL)
		g_prefix_error(error, "%s: ", path);
	return list;
}

typedef struct {
	LodeDatabase *database;
	int64_t id;
	LodeMiningRun *run;
	GHashTable *attribute_ids; /* name → id + 1 */
	LodeJsonCursor cursor;
} Loader;

/* Reads a table of (id, name) into `names`. */
static bool load_names(Loader *self, const char *table, GPtrArray *names, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT id, name FROM %s WHERE run = %" G_GINT64_FORMAT " ORDER BY id", table,
		self->id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, table, sql);
	while (lode_row_reader_next_numbered(&rows))
		g_ptr_array_add(names, g_strdup(lode_row_reader_text(&rows, 1)));
	return lode_row_reader_finish(&rows, error);
}

static bool number_attributes(Loader *self, GError **error)
{
	GPtrArray *attributes = self->run->attributes;

	if (attributes->len >= LODE_ITEM_START) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'run_attribute': too many rows");
		return false;
	}
	for (guint i = 0; i < attributes->len; i++)
		if (!g_hash_table_insert(self->attribute_ids, g_ptr_array_index(attributes, i),
			    GUINT_TO_POINTER(i + 1))) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"table 'run_attribute', row %u: its name has been there before",
				i + 1);
			return false;
		}
	return true;
}

static void parse_item(Loader *self, uint32_t start)
{
	const char *name = lode_json_cursor_string(&self->cursor);
	uint32_t id = name != NULL
	                      ? GPOINTER_TO_UINT(g_hash_table_lookup(self->attribute_ids, name))
	                      : 0;
	uint32_t item = (id - 1) | start;

	if (id == 0)
		self->cursor.has_failed = true;
	else
		g_array_append_val(self->run->items, item);
}

/* [["a","b"],["c"]] → items; false when it is anything else. */
static bool parse_items(Loader *self, const char *text)
{
	LodeJsonCursor *cursor = &self->cursor;

	lode_json_cursor_init(cursor, text);
	lode_json_cursor_expect(cursor, '[');
	do {
		lode_json_cursor_expect(cursor, '[');
		parse_item(self, LODE_ITEM_START);
		while (lode_json_cursor_accept(cursor, ','))
			parse_item(self, 0);
		lode_json_cursor_expect(cursor, ']');
	} while (lode_json_cursor_accept(cursor, ','));
	lode_json_cursor_expect(cursor, ']');
	return lode_json_cursor_is_done(cursor);
}

static void take_sequence(Loader *self, LodeRowReader *rows)
{
	LodeMiningRun *run = self->run;
	LodeSequence sequence = {
		.first_item = run->items->len,
		.n_items = (uint32_t)lode_row_reader_integer(rows, 2, UINT32_MAX),
		.places = (uint32_t)lode_row_reader_integer(rows, 3, UINT32_MAX),
		.functions = (uint32_t)lode_row_reader_integer(rows, 4, UINT32_MAX),
		.weight = lode_row_reader_amount(rows, 5),
		.frequency = lode_row_reader_amount(rows, 6),
		.executions = lode_row_reader_amount(rows, 7),
		.count = lode_row_reader_amount(rows, 8),
	};

	if (!parse_items(self, lode_row_reader_text(rows, 1)))
		lode_row_reader_fail(rows, "column 'items' is not a list of lists of attributes");
	else if (run->items->len - sequence.first_item != sequence.n_items)
		lode_row_reader_fail(rows, "column 'size' is not the number of its items");
	for (guint i = 0; i < run->events->len; i++) {
		double value = lode_row_reader_amount(rows, 9 + (int)i);
		g_array_append_val(run->event_supports, value);
	}
	g_array_append_val(run->sequences, sequence);
}

static bool load_sequences(Loader *self, GError **error)
{
	g_autoptr(GString) sql = g_string_new(
		"SELECT id, items, size, places, functions, weight, frequency, executions, count");
	LodeRowReader rows;

	for (guint i = 1; i <= self->run->events->len; i++)
		g_string_append_printf(sql, ", event_%u", i);
	g_string_append_printf(
		sql, " FROM sequence WHERE run = %" G_GINT64_FORMAT " ORDER BY id", self->id);
	lode_row_reader_init(&rows, self->database, "sequence", sql->str);
	while (lode_row_reader_next_numbered(&rows))
		take_sequence(self, &rows);
	return lode_row_reader_finish(&rows, error);
}

static bool load_run(Loader *self, const LodeRunSummary *summary, GError **error)
{
	LodeMiningRun *run = self->run;

	if (!lode_run_parameters_from_json(&run->parameters, summary->parameters, error)) {
		g_prefix_error(error, "table 'run', row '%s': ", summary->name);
		return false;
	}
	if (!load_names(self, "run_attribute", run->attributes, error) ||
		!load_names(self, "run_event", run->events, error) ||
		!number_attributes(self, error))
		return false;
	if (run->events->len > LODE_DATABASE_MAX_EVENTS) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_CORRUPT, "table 'run_event': too many rows");
		return false;
	}
	if (!load_sequences(self, error))
		return false;
	if (run->sequences->len == summary->n_sequences)
		return lode_finding_tables_read(run, self->id, self->database, error);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"table 'run', row '%s': %" G_GUINT64_FORMAT " sequences are %u", summary->name,
		summary->n_sequences, run->sequences->len);
	return false;
}

static LodeMiningRun *read_found(
	LodeDatabase *database, int64_t id, const LodeRunSummary *summary, GError **error)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(summary->name, &parameters);
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	Loader loader = {.database = database, .id = id, .run = run, .attribute_ids = ids};

	run->is_complete = summary->is_complete;
	run->seconds = summary->seconds;
	lode_json_cursor_init(&loader.cursor, "");
	bool done = load_run(&loader, summary, error);
	lode_json_cursor_clear(&loader.cursor);
	return done ? g_steal_pointer(&run) : NULL;
}

static void set_not_found_error(const char *name, GPtrArray *list, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < list->len; i++) {
		const LodeRunSummary *summary = g_ptr_array_index(list, i);
		g_string_append_printf(names, "%s'%s'", i > 0 ? ", " : "", summary->name);
	}
	if (list->len == 0)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"it has no runs yet: make one with 'lode mine'");
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"it has no run '%s'; it has %s", name, names->str);
}

static LodeMiningRun *read_named(LodeDatabase *database, const char *name, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autoptr(GPtrArray) list = list_runs(database, ids, error);

	if (list == NULL)
		return NULL;
	for (guint i = list->len; i-- > 0;) {
		const LodeRunSummary *summary = g_ptr_array_index(list, i);
		if (name == NULL || strcmp(summary->name, name) == 0)
			return read_found(database, g_array_index(ids, int64_t, i), summary, error);
	}
	set_not_found_error(name, list, error);
	return NULL;
}

LodeMiningRun *lode_profile_store_read_run(const char *path, const char *name, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_open(path, NULL, error);
	LodeMiningRun *run = database != NULL ? read_named(database, name, error) : NULL;

	if (run == NULL)
		g_prefix_error(error, "%s: ", path);
	return run;
}
