/* SPDX-License-Identifier: MIT */
#include "old_profile.h"

#include <glib.h>
#include <sqlite3.h>

static const char sequence_3_sql[] =
#include "store/sequence_3_sql.h"
	;

static void execute(sqlite3 *handle, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(handle, sql, NULL, NULL, &message);
	g_assert_cmpstr(message, ==, NULL);
}

static int count_events(sqlite3 *handle)
{
	sqlite3_stmt *query;

	sqlite3_prepare_v2(handle,
		"SELECT count(*) FROM pragma_table_info('mined_support') WHERE name GLOB 'event_*'",
		-1, &query, NULL);
	g_assert_cmpint(sqlite3_step(query), ==, SQLITE_ROW);
	int n = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	return n;
}

void make_old_profile(const char *path)
{
	g_autoptr(GString) fill = g_string_new("CREATE TEMP TABLE filled AS SELECT q.*");
	g_autoptr(GString) add = g_string_new(sequence_3_sql);
	sqlite3 *handle;

	g_assert_cmpint(sqlite3_open(path, &handle), ==, SQLITE_OK);
	int n_events = count_events(handle);
	for (int i = 1; i <= n_events; i++) {
		g_string_append_printf(fill,
			", s.event_%d / iif(json_extract(r.parameters, '$.is_instruction_mode'), "
			"1, 1e8)",
			i);
		g_string_append_printf(add, "; ALTER TABLE sequence ADD COLUMN event_%d REAL", i);
	}
	g_string_append(fill, " FROM sequence q JOIN run r ON r.id = q.run "
			      "JOIN mined_sequence m ON m.run = q.run AND m.id = q.id "
			      "JOIN mined_support s ON s.run = q.run AND s.id = m.support "
			      "ORDER BY q.run, q.id");
	execute(handle, "BEGIN");
	execute(handle, fill->str);
	execute(handle, "DROP VIEW sequence_text; DROP VIEW IF EXISTS sequence_event; "
			"DROP VIEW sequence; DROP TABLE mined_sequence; "
			"DROP TABLE mined_element; DROP TABLE mined_support");
	execute(handle, add->str);
	execute(handle, "INSERT INTO sequence SELECT * FROM filled; PRAGMA user_version = 3; "
			"UPDATE meta SET value = 3 WHERE key = 'schema_version'; COMMIT");
	sqlite3_close(handle);
}
