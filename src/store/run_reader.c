/* SPDX-License-Identifier: MIT */
/* Reading mining runs, and checking them. */
#include "store/run_reader.h"

#include "base/error.h"
#include "model/mining_run.h"
#include "store/profile_store.h"
#include "store/run_parameters.h"
#include "store/tables/finding_tables.h"
#include "store/tables/row_reader.h"
#include "store/tables/sequence_tables.h"

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

/* Reads a table of (id, name) into `names`. */
static bool load_names(
	LodeDatabase *database, int64_t run, const char *table, GPtrArray *names, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT id, name FROM %s WHERE run = %" G_GINT64_FORMAT " ORDER BY id", table, run);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, table, sql);
	while (lode_row_reader_next_numbered(&rows))
		g_ptr_array_add(names, g_strdup(lode_row_reader_text(&rows, 1)));
	return lode_row_reader_finish(&rows, error);
}

static bool load_run(LodeMiningRun *run, LodeDatabase *database, int64_t id,
	const LodeRunSummary *summary, GError **error)
{
	if (!lode_run_parameters_from_json(&run->parameters, summary->parameters, error)) {
		g_prefix_error(error, "table 'run', row '%s': ", summary->name);
		return false;
	}
	if (!load_names(database, id, "run_attribute", run->attributes, error) ||
		!load_names(database, id, "run_event", run->events, error))
		return false;
	if (run->events->len > LODE_DATABASE_MAX_EVENTS) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_CORRUPT, "table 'run_event': too many rows");
		return false;
	}
	if (!lode_sequence_tables_read(run, id, database, error))
		return false;
	if (run->sequences->len == summary->n_sequences)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"table 'run', row '%s': %" G_GUINT64_FORMAT " sequences are %u", summary->name,
		summary->n_sequences, run->sequences->len);
	return false;
}

/* Without its findings. */
static LodeMiningRun *read_found(
	LodeDatabase *database, int64_t id, const LodeRunSummary *summary, GError **error)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(summary->name, &parameters);
	run->is_complete = summary->is_complete;
	run->seconds = summary->seconds;
	return load_run(run, database, id, summary, error) ? g_steal_pointer(&run) : NULL;
}

/* The tables of version 3 are replaced, with their views; a view takes the name of the old table.
 */
bool lode_run_reader_upgrade(LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autofree char *version = g_strdup_printf(
		"PRAGMA user_version = %d; UPDATE meta SET value = %d WHERE key = 'schema_version'",
		LODE_SCHEMA_VERSION_RUNS, LODE_SCHEMA_VERSION_RUNS);
	int64_t n_events;

	if (database->version >= LODE_SCHEMA_VERSION_RUNS)
		return true;
	g_autoptr(GPtrArray) list = list_runs(database, ids, error);
	if (list == NULL ||
		!lode_database_query_integer(database,
			"SELECT count(*) FROM pragma_table_info('sequence') "
			"WHERE name GLOB 'event_*'",
			&n_events, error) ||
		!lode_database_execute(database,
			"DROP VIEW IF EXISTS sequence_text; DROP VIEW IF EXISTS sequence_event",
			error) ||
		!lode_database_make_sequence_tables(database, error) ||
		!lode_database_add_event_columns(database, (size_t)n_events, error))
		return false;
	for (guint i = 0; i < list->len; i++) {
		int64_t id = g_array_index(ids, int64_t, i);
		g_autoptr(LodeMiningRun)
			run = read_found(database, id, g_ptr_array_index(list, i), error);
		if (run == NULL || !lode_sequence_tables_insert(run, id, database, error))
			return false;
	}
	database->version = LODE_SCHEMA_VERSION_RUNS;
	return lode_database_execute(database, "DROP TABLE sequence", error) &&
	       lode_database_make_sequence_views(database, error) &&
	       lode_database_execute(database, version, error);
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
		if (name != NULL && strcmp(summary->name, name) != 0)
			continue;
		int64_t id = g_array_index(ids, int64_t, i);
		g_autoptr(LodeMiningRun) run = read_found(database, id, summary, error);
		return run != NULL && lode_finding_tables_read(run, id, database, error)
		               ? g_steal_pointer(&run)
		               : NULL;
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
