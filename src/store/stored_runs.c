/* SPDX-License-Identifier: MIT */
/* Reading and checking mining runs, and adding one to a profile in one transaction. */
#include "base/error.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "store/database.h"
#include "store/profile_store.h"
#include "store/run_parameters.h"
#include "store/tables/row_reader.h"
#include "store/tables/row_table.h"
#include "store/tables/run_tables.h"

#include <math.h>
#include <string.h>

/* --- reading --- */

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
static bool upgrade_runs(LodeDatabase *database, GError **error)
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

/* --- adding --- */

static const LodeColumn name_columns[] = {{"name", 0, LODE_COLUMN_TEXT, 0}};
static const LodeRowTable attributes = LODE_ROW_TABLE("run_attribute", char *, name_columns, NULL);
static const LodeRowTable events = LODE_ROW_TABLE("run_event", char *, name_columns, NULL);

static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

static bool is_share(double value)
{
	return is_amount(value * LODE_SHARE_UNITS);
}

static bool check_sequence(const LodeMiningRun *run, size_t index)
{
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);

	if (sequence->n_items == 0 || sequence->n_items > LODE_SEQUENCE_MAX_ITEMS ||
		sequence->first_item > run->items->len ||
		sequence->n_items > run->items->len - sequence->first_item)
		return false;
	const uint32_t *items = lode_mining_run_items(run, index);
	if ((items[0] & LODE_ITEM_START) == 0)
		return false;
	for (uint32_t i = 0; i < sequence->n_items; i++)
		if (LODE_ITEM_ATTRIBUTE(items[i]) >= run->attributes->len)
			return false;
	for (guint i = 0; i < run->events->len; i++) {
		double value = g_array_index(
			run->event_supports, double, index * run->events->len + i);
		if (!(run->parameters.is_instruction_mode ? is_amount : is_share)(value))
			return false;
	}
	return is_share(sequence->weight) && is_amount(sequence->frequency) &&
	       is_amount(sequence->executions) && is_amount(sequence->count);
}

/*
 * Every element repeats the names of its attributes, so that a few long ones make a file out of
 * proportion to the profile.
 */
static bool check_size_of_names(const LodeMiningRun *run, GError **error)
{
	enum { BYTES_PER_ITEM = 1024, BYTES_FREE = 1 << 20 };
	uint64_t n_bytes = 0, n_items = 0;

	for (guint i = 0; i < run->sequences->len; i++) {
		uint32_t n = g_array_index(run->sequences, LodeSequence, i).n_items;
		const uint32_t *items = lode_mining_run_items(run, i);
		for (uint32_t k = 0; k < n; k++)
			n_bytes += strlen(
				g_ptr_array_index(run->attributes, LODE_ITEM_ATTRIBUTE(items[k])));
		n_items += n;
	}
	if (n_bytes <= BYTES_FREE + n_items * BYTES_PER_ITEM)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"run '%s': its %u sequences would take %" G_GUINT64_FORMAT
		" MiB; attribute names of more than %d bytes on average are not stored",
		run->name, run->sequences->len, n_bytes >> 20, BYTES_PER_ITEM);
	return false;
}

/* Refuses runs that could be written but not read. */
static bool check_run(const LodeMiningRun *run, GError **error)
{
	if (run->events->len > LODE_DATABASE_MAX_EVENTS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "a run of %u events, more than %d",
			run->events->len, LODE_DATABASE_MAX_EVENTS);
		return false;
	}
	if (run->event_supports->len != (size_t)run->sequences->len * run->events->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"run '%s': not one support for each sequence and event", run->name);
		return false;
	}
	for (size_t i = 0; i < run->sequences->len; i++)
		if (!check_sequence(run, i)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"run '%s', sequence %zu: an item or a support is out of range",
				run->name, i + 1);
			return false;
		}
	return check_size_of_names(run, error);
}

static bool run_step(LodeDatabase *database, const char *sql, const char *name, GError **error)
{
	g_autoptr(sqlite3_stmt) statement = lode_database_prepare(database, sql, error);

	if (statement == NULL)
		return false;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	return sqlite3_step(statement) == SQLITE_DONE || lode_database_fail(database, error);
}

static bool remove_run(LodeDatabase *database, const char *name, GError **error)
{
	static const char *const statements[] = {
		/* Written by earlier versions of lode. */
		"DELETE FROM summary_line WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM mined_sequence WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM mined_element WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM mined_support WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM run_attribute WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM run_event WHERE run = (SELECT id FROM run WHERE name = ?)",
		"DELETE FROM run WHERE name = ?",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
		if (!run_step(database, statements[i], name, error))
			return false;
	return true;
}

static bool write_head(LodeDatabase *database, const LodeMiningRun *run, int64_t id, GError **error)
{
	g_autofree char *parameters = lode_run_parameters_to_json(&run->parameters);
	g_autoptr(sqlite3_stmt) statement = lode_database_prepare(database,
		"INSERT INTO run(id, name, weight, parameters, is_complete, seconds, sequences) "
		"VALUES (?, ?, coalesce(?, (SELECT name FROM event WHERE id = "
		"(SELECT value FROM meta WHERE key = 'weight_event'))), ?, ?, ?, ?)",
		error);

	if (statement == NULL)
		return false;
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_text(statement, 2, run->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, run->parameters.weight, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 4, parameters, -1, SQLITE_STATIC);
	sqlite3_bind_int(statement, 5, run->is_complete);
	sqlite3_bind_double(statement, 6, run->seconds);
	sqlite3_bind_int64(statement, 7, run->sequences->len);
	return sqlite3_step(statement) == SQLITE_DONE || lode_database_fail(database, error);
}

static bool write_tables(
	LodeDatabase *database, const LodeMiningRun *run, int64_t id, GError **error)
{
	database->stage = "storing the run";
	database->rows_total = run->sequences->len;
	return lode_row_table_insert_of_run(&attributes, id, run->attributes->pdata,
		       run->attributes->len, database, error) &&
	       lode_row_table_insert_of_run(
		       &events, id, run->events->pdata, run->events->len, database, error) &&
	       lode_sequence_tables_insert(run, id, database, error) &&
	       lode_finding_tables_insert(run, id, database, error);
}

static bool write_run(LodeDatabase *database, const LodeMiningRun *run, GError **error)
{
	int64_t id;

	return upgrade_runs(database, error) &&
	       lode_finding_tables_prepare(database, run->name, error) &&
	       remove_run(database, run->name, error) &&
	       lode_database_query_integer(
		       database, "SELECT coalesce(max(id), 0) + 1 FROM run", &id, error) &&
	       lode_database_add_event_columns(database, run->events->len, error) &&
	       write_head(database, run, id, error) && write_tables(database, run, id, error);
}

/* A cancelled or failed transaction is rolled back when the database is closed. */
static bool commit(LodeDatabase *database, const LodeProgress *progress, GError **error)
{
	if (!lode_progress_is_cancelled(progress))
		return lode_database_execute(database, "COMMIT", error);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "cancelled");
	return false;
}

/* An import may have replaced the file while the profile was mined. */
static bool is_same_profile(
	LodeDatabase *database, const char *path, const LodeProfileFile *expected, GError **error)
{
	LodeProfileFile found = {0};

	if (!lode_database_identify(database, path, &found, error))
		return false;
	/* Equal content will do, in whatever file. Without a hash of it, as in profiles of before,
	 * only the same file does. */
	bool is_same = *expected->content != '\0' || *found.content != '\0'
	                       ? strcmp(expected->content, found.content) == 0
	                       : expected->device == found.device && expected->inode == found.inode;
	if (!is_same)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"another profile has taken its place while it was mined; nothing is "
			"stored: mine again");
	return is_same;
}

bool lode_profile_store_add_run(const char *path, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) database = NULL;
	bool done = check_run(run, error) &&
	            lode_finding_tables_check(
			    run->findings, profile->code.instructions->len, error) &&
	            (database = lode_database_open_writable(path, progress, error)) != NULL &&
	            is_same_profile(database, path, &profile->file, error) &&
	            write_run(database, run, error) && commit(database, progress, error);

	if (!done)
		g_prefix_error(error, "%s: ", path);
	return done;
}
