/* SPDX-License-Identifier: MIT */
#include "store/tables/row_source.h"

typedef struct {
	const LodeRowSource *source;
	LodeDatabase *database;
} Insertion;

typedef struct {
	sqlite3_vtab base;
	Insertion *insertion;
} Table;

typedef struct {
	sqlite3_vtab_cursor base;
	Insertion *insertion;
	size_t row;
} Cursor;

static int connect_table(sqlite3 *handle, void *data, int n_arguments, const char *const *arguments,
	sqlite3_vtab **out_table, char **out_message)
{
	Insertion *insertion = data;
	g_autofree char *sql = g_strdup_printf("CREATE TABLE x(%s)", insertion->source->columns);

	(void)n_arguments, (void)arguments, (void)out_message;
	int result = sqlite3_declare_vtab(handle, sql);
	if (result != SQLITE_OK)
		return result;
	Table *table = g_new0(Table, 1);
	table->insertion = insertion;
	*out_table = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	g_free(table);
	return SQLITE_OK;
}

static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
	info->estimatedRows = (sqlite3_int64)((Table *)table)->insertion->source->n_rows;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out_cursor)
{
	Cursor *cursor = g_new0(Cursor, 1);

	cursor->insertion = ((Table *)table)->insertion;
	*out_cursor = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	g_free(cursor);
	return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *cursor, int plan, const char *plan_text,
	int n_arguments, sqlite3_value **arguments)
{
	(void)plan, (void)plan_text, (void)n_arguments, (void)arguments;
	((Cursor *)cursor)->row = 0;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	Cursor *self = (Cursor *)cursor;

	self->row++;
	self->insertion->database->rows_done++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	Cursor *self = (Cursor *)cursor;

	return self->row >= self->insertion->source->n_rows;
}

static int give_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
	Cursor *self = (Cursor *)cursor;
	const LodeRowSource *source = self->insertion->source;

	source->column(source->data, self->row, column, out);
	return SQLITE_OK;
}

static int give_row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out_id)
{
	*out_id = (sqlite3_int64)((Cursor *)cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate: a table of the module's own name, which no schema has to hold
 * (https://www.sqlite.org/vtab.html, eponymous virtual tables). */
static const sqlite3_module row_module = {
	.xConnect = connect_table,
	.xBestIndex = choose_plan,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = rewind_cursor,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_row_id,
};

bool lode_row_source_insert(const LodeRowSource *self, LodeDatabase *database, GError **error)
{
	Insertion insertion = {.source = self, .database = database};
	g_autofree char *sql = g_strdup_printf(
		"INSERT INTO main.%s(%s) SELECT * FROM lode_rows", self->table, self->columns);

	if (sqlite3_create_module(database->handle, "lode_rows", &row_module, &insertion) !=
		SQLITE_OK)
		return lode_database_fail(database, error);
	bool done = lode_database_execute(database, sql, error);
	/* `insertion` goes out of scope: the module must not outlive it. */
	sqlite3_create_module(database->handle, "lode_rows", NULL, NULL);
	if (!done)
		g_prefix_error(error, "table '%s': ", self->table);
	return done;
}
