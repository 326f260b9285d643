/* SPDX-License-Identifier: MIT */
#include "store/tables/row_reader.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

void lode_row_reader_init(
	LodeRowReader *self, LodeDatabase *database, const char *table, const char *sql)
{
	*self = (LodeRowReader){.database = database, .table = table};
	self->statement = lode_database_prepare(database, sql, &self->error);
	if (self->error != NULL)
		g_prefix_error(&self->error, "table '%s': ", table);
}

bool lode_row_reader_next(LodeRowReader *self)
{
	if (self->error != NULL)
		return false;
	int result = sqlite3_step(self->statement);
	self->n_rows++;
	if (result == SQLITE_ROW && self->n_rows >= UINT32_MAX)
		lode_row_reader_fail(self, "too many rows");
	if (result == SQLITE_ROW) {
		self->database->rows_done++;
		return self->error == NULL;
	}
	if (result != SQLITE_DONE) {
		lode_database_fail(self->database, &self->error);
		if (!g_error_matches(self->error, LODE_ERROR, LODE_ERROR_CANCELLED))
			g_prefix_error(&self->error, "table '%s', row %" G_GUINT64_FORMAT ": ",
				self->table, self->n_rows);
	}
	return false;
}

bool lode_row_reader_next_numbered(LodeRowReader *self)
{
	if (!lode_row_reader_next(self))
		return false;
	/* A file may be made so that its tree shows the same rows again and again: this ends it. */
	if (sqlite3_column_int64(self->statement, 0) != (sqlite3_int64)self->n_rows)
		lode_row_reader_fail(
			self, "its id is %lld", sqlite3_column_int64(self->statement, 0));
	return self->error == NULL;
}

bool lode_row_reader_finish(LodeRowReader *self, GError **error)
{
	sqlite3_finalize(self->statement);
	self->statement = NULL;
	if (self->error == NULL)
		return true;
	g_propagate_error(error, g_steal_pointer(&self->error));
	return false;
}

void lode_row_reader_fail(LodeRowReader *self, const char *format, ...)
{
	va_list arguments;

	if (self->error != NULL)
		return;
	va_start(arguments, format);
	self->error = g_error_new_valist(LODE_ERROR, LODE_ERROR_CORRUPT, format, arguments);
	va_end(arguments);
	g_prefix_error(
		&self->error, "table '%s', row %" G_GUINT64_FORMAT ": ", self->table, self->n_rows);
}

static void fail_column(LodeRowReader *self, int column, const char *what)
{
	lode_row_reader_fail(
		self, "column '%s' %s", sqlite3_column_name(self->statement, column), what);
}

double lode_row_reader_number(LodeRowReader *self, int column)
{
	int type = sqlite3_column_type(self->statement, column);
	double value = sqlite3_column_double(self->statement, column);

	if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(value))
		return value;
	fail_column(self, column, "is not a number");
	return 0;
}

double lode_row_reader_amount(LodeRowReader *self, int column)
{
	double value = lode_row_reader_number(self, column);

	if (value >= 0)
		return value;
	fail_column(self, column, "is negative");
	return 0;
}

bool lode_row_reader_is_null(LodeRowReader *self, int column)
{
	return sqlite3_column_type(self->statement, column) == SQLITE_NULL;
}

uint64_t lode_row_reader_address(LodeRowReader *self, int column)
{
	if (sqlite3_column_type(self->statement, column) == SQLITE_INTEGER)
		return (uint64_t)sqlite3_column_int64(self->statement, column);
	fail_column(self, column, "is not an integer");
	return 0;
}

uint64_t lode_row_reader_integer(LodeRowReader *self, int column, uint64_t limit)
{
	uint64_t value = lode_row_reader_address(self, column);

	/* Negative ones are above any limit here. */
	if (value <= limit)
		return value;
	fail_column(self, column, "is out of range");
	return 0;
}

uint32_t lode_row_reader_reference(LodeRowReader *self, int column)
{
	return (uint32_t)(lode_row_reader_integer(self, column, UINT32_MAX) - 1);
}

uint32_t lode_row_reader_optional_reference(LodeRowReader *self, int column)
{
	return lode_row_reader_is_null(self, column) ? UINT32_MAX
	                                             : lode_row_reader_reference(self, column);
}

const char *lode_row_reader_text(LodeRowReader *self, int column)
{
	if (sqlite3_column_type(self->statement, column) != SQLITE_TEXT) {
		fail_column(self, column, "is not text");
		return "";
	}
	const char *text = (const char *)sqlite3_column_text(self->statement, column);
	size_t length = (size_t)sqlite3_column_bytes(self->statement, column);
	if (text != NULL && strlen(text) == length)
		return text;
	fail_column(self, column, "has a zero byte");
	return "";
}

const char *lode_row_reader_optional_text(LodeRowReader *self, int column)
{
	return lode_row_reader_is_null(self, column) ? NULL : lode_row_reader_text(self, column);
}

int lode_row_reader_word(LodeRowReader *self, int column, int (*from_text)(const char *text))
{
	int value = from_text(lode_row_reader_text(self, column));

	if (value >= 0)
		return value;
	fail_column(self, column, "is an unknown word");
	return 0;
}

GBytes *lode_row_reader_optional_bytes(LodeRowReader *self, int column)
{
	if (lode_row_reader_is_null(self, column))
		return NULL;
	if (sqlite3_column_type(self->statement, column) != SQLITE_BLOB) {
		fail_column(self, column, "is not a blob");
		return NULL;
	}
	/* An empty blob is a NULL pointer of 0 bytes. */
	return g_bytes_new(sqlite3_column_blob(self->statement, column),
		(size_t)sqlite3_column_bytes(self->statement, column));
}
