/* SPDX-License-Identifier: MIT */
/* Trees of pages that SQLite finds sound and reads as they were written. */
#include "store/tree_writer.h"

#include "base/error.h"
#include "random_profile.h"
#include "seeds.h"
#include "store/database.h"
#include "store/file_record.h"
#include "store/row_table.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
	char *folder, *path;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->folder = make_folder();
	fixture->path = g_build_filename(fixture->folder, "x.db", NULL);
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	g_free(fixture->path);
	remove_folder(fixture->folder);
}

static sqlite3 *open_file(const Fixture *fixture)
{
	sqlite3 *handle;

	g_assert_cmpint(sqlite3_open(fixture->path, &handle), ==, SQLITE_OK);
	return handle;
}

static void execute(sqlite3 *handle, const char *sql)
{
	g_assert_cmpint(sqlite3_exec(handle, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

static sqlite3_stmt *ask(sqlite3 *handle, const char *sql)
{
	sqlite3_stmt *statement;

	g_assert_cmpint(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), ==, SQLITE_OK);
	return statement;
}

static void assert_sound(sqlite3 *handle)
{
	g_autoptr(sqlite3_stmt) statement = ask(handle, "PRAGMA integrity_check");

	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
	g_assert_cmpstr((const char *)sqlite3_column_text(statement, 0), ==, "ok");
}

static uint32_t root_of(sqlite3 *handle, const char *name)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT rootpage FROM sqlite_schema WHERE name = '%s'", name);
	g_autoptr(sqlite3_stmt) statement = ask(handle, sql);

	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
	return (uint32_t)sqlite3_column_int(statement, 0);
}

/* One that SQLite wrote to before and between: a table, an index and a table by its key. */
static void make_file(const Fixture *fixture, uint32_t roots[3])
{
	g_unlink(fixture->path);
	sqlite3 *handle = open_file(fixture);
	execute(handle, "PRAGMA page_size = 16384; PRAGMA auto_vacuum = NONE;"
			"CREATE TABLE other(x); INSERT INTO other VALUES(zeroblob(100000));"
			"CREATE TABLE a(id INTEGER PRIMARY KEY, number INTEGER, filling BLOB);"
			"CREATE TABLE b(number INTEGER, filling BLOB, PRIMARY KEY(number, filling))"
			"WITHOUT ROWID; CREATE INDEX a_by_number ON a(number)");
	roots[0] = root_of(handle, "a");
	roots[1] = root_of(handle, "a_by_number");
	roots[2] = root_of(handle, "b");
	sqlite3_close(handle);
}

/* A record of NULL or nothing, a number and a blob of zeros. */
static size_t make_record(uint8_t *record, bool has_id, uint32_t number, size_t filling)
{
	size_t at = 1, type = 12 + 2 * filling;

	if (has_id)
		record[at++] = 0;
	record[at++] = 6;
	if (type >= 1 << 14)
		record[at++] = (uint8_t)(0x80 | type >> 14);
	if (type >= 1 << 7)
		record[at++] = (uint8_t)(0x80 | (type >> 7 & 0x7f));
	record[at++] = (uint8_t)(type & 0x7f);
	record[0] = (uint8_t)at;
	uint64_t value = GUINT64_TO_BE((uint64_t)number);
	memcpy(record + at, &value, sizeof(value));
	memset(record + at + sizeof(value), 0, filling);
	return at + sizeof(value) + filling;
}

static size_t filling_of(uint32_t seed, uint32_t i, size_t largest)
{
	return largest == 0 ? 0 : (i * UINT32_C(2654435761) ^ seed) % (largest + 1);
}

static void write_trees(
	const Fixture *fixture, const uint32_t roots[3], uint32_t seed, uint32_t n, size_t largest)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTreeWriter) writer = lode_tree_writer_open(fixture->path, &error);
	uint8_t bytes[LODE_TREE_LONGEST_RECORD];

	g_assert_no_error(error);
	lode_tree_writer_begin(writer, roots[0], false);
	for (uint32_t i = 0; i < n; i++)
		lode_tree_writer_add(writer, i + 1, bytes,
			make_record(bytes, true, 3 * i, filling_of(seed, i, largest)));
	g_assert_true(lode_tree_writer_end(writer, &error));
	lode_tree_writer_begin(writer, roots[2], true);
	for (uint32_t i = 0; i < n; i++)
		lode_tree_writer_add(writer, 0, bytes,
			make_record(bytes, false, 3 * i, filling_of(seed, i, largest)));
	g_assert_true(lode_tree_writer_end(writer, &error));
	lode_tree_writer_begin(writer, roots[1], true);
	for (uint32_t i = 0; i < n; i++) {
		LodeFileRecord record;
		const uint8_t *start;
		lode_file_record_begin(&record);
		lode_file_record_put_integer(&record, 3 * (int64_t)i);
		lode_file_record_put_integer(&record, (int64_t)i + 1);
		size_t size = lode_file_record_end(&record, &start);
		lode_tree_writer_add(writer, 0, start, size);
	}
	g_assert_true(lode_tree_writer_end(writer, &error));
	g_assert_true(lode_tree_writer_finish(writer, &error));
	g_assert_no_error(error);
}

static void assert_rows(sqlite3 *handle, const char *sql, uint32_t seed, uint32_t n, size_t largest)
{
	g_autoptr(sqlite3_stmt) statement = ask(handle, sql);

	for (uint32_t i = 0; i < n; i++) {
		g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
		g_assert_cmpint(sqlite3_column_int64(statement, 0), ==, 3 * (int64_t)i);
		g_assert_cmpint(
			sqlite3_column_bytes(statement, 1), ==, (int)filling_of(seed, i, largest));
	}
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_DONE);
}

/* It can be read, and SQLite can go on writing to it. */
static void check_trees(const Fixture *fixture, uint32_t seed, uint32_t n, size_t largest)
{
	uint32_t roots[3];

	make_file(fixture, roots);
	write_trees(fixture, roots, seed, n, largest);
	sqlite3 *handle = open_file(fixture);
	assert_sound(handle);
	assert_rows(handle, "SELECT number, filling FROM a ORDER BY id", seed, n, largest);
	assert_rows(handle, "SELECT number, filling FROM a INDEXED BY a_by_number ORDER BY number",
		seed, n, largest);
	assert_rows(handle, "SELECT number, filling FROM b ORDER BY number", seed, n, largest);
	execute(handle,
		"INSERT INTO a(number, filling) SELECT number + 1, filling FROM a;"
		"INSERT INTO b SELECT number + 1, filling FROM b; DELETE FROM a WHERE id % 3");
	assert_sound(handle);
	sqlite3_close(handle);
}

/* None, one page, and one row more or less than what fits: small rows and those of a page's
 * quarter. */
static void test_small(Fixture *fixture, const void *data)
{
	(void)data;
	for (uint32_t n = 0; n < 40; n++)
		check_trees(fixture, 0, n, 3900);
	for (uint32_t n = 700; n < 1700; n += 53)
		check_trees(fixture, 0, n, 0);
}

/* With rows of 4,000 bytes a page of an index refers to four others. */
static void test_many_levels(Fixture *fixture, const void *data)
{
	(void)data;
	for (guint32 i = 0; i < random_rounds(4, 20); i++) {
		guint32 seed = soak_seed(i);
		check_trees(fixture, seed, 300 + seed % 1000, 3900);
		check_trees(fixture, seed, 10000 + seed % 10000, 30);
	}
	check_trees(fixture, 1, 9000, 3900); /* three levels of a table */
}

static void test_lock_page(void)
{
	g_assert_cmpuint(lode_tree_writer_next_page(65535), ==, 65536);
	g_assert_cmpuint(lode_tree_writer_next_page(65536), ==, 65538);
	g_assert_cmpuint(lode_tree_writer_next_page(65538), ==, 65539);
}

static void test_other_files(Fixture *fixture, const void *data)
{
	static const char *const forms[] = {
		"PRAGMA page_size = 4096", "PRAGMA page_size = 16384; PRAGMA auto_vacuum = FULL"};
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_null(lode_tree_writer_open(fixture->path, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
		g_clear_error(&error);
		g_unlink(fixture->path);
		sqlite3 *handle = open_file(fixture);
		execute(handle, forms[i]);
		execute(handle, "CREATE TABLE a(x)");
		sqlite3_close(handle);
		g_assert_null(lode_tree_writer_open(fixture->path, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	}
}

static void put_values(const Fixture *fixture, double real, int64_t integer, const char *text)
{
	g_unlink(fixture->path);
	sqlite3 *handle = open_file(fixture);
	execute(handle, "PRAGMA page_size = 16384;"
			"CREATE TABLE a(r REAL, i INTEGER, t TEXT, n INTEGER)");
	uint32_t root = root_of(handle, "a");
	sqlite3_close(handle);
	g_autoptr(LodeTreeWriter) writer = lode_tree_writer_open(fixture->path, NULL);
	LodeFileRecord record;
	const uint8_t *bytes;
	lode_file_record_begin(&record);
	lode_file_record_put_real(&record, real);
	lode_file_record_put_integer(&record, integer);
	lode_file_record_put_text(&record, text);
	lode_file_record_put_null(&record);
	size_t size = lode_file_record_end(&record, &bytes);
	lode_tree_writer_begin(writer, root, false);
	lode_tree_writer_add(writer, 1, bytes, size);
	g_assert_true(lode_tree_writer_end(writer, NULL));
	g_assert_true(lode_tree_writer_finish(writer, NULL));
}

/* Values at the bounds of their types come back as they are. */
static void check_values(const Fixture *fixture, double real, int64_t integer, const char *text)
{
	put_values(fixture, real, integer, text);
	sqlite3 *handle = open_file(fixture);
	g_autoptr(sqlite3_stmt) statement = ask(handle, "SELECT r, i, t, n FROM a");
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
	g_assert_cmpint(sqlite3_column_type(statement, 0), ==, SQLITE_FLOAT);
	g_assert_true(sqlite3_column_double(statement, 0) == real);
	g_assert_cmpint(sqlite3_column_int64(statement, 1), ==, integer);
	g_assert_cmpstr((const char *)sqlite3_column_text(statement, 2), ==, text);
	g_assert_cmpint(sqlite3_column_type(statement, 3), ==, SQLITE_NULL);
	g_clear_pointer(&statement, sqlite3_finalize);
	assert_sound(handle);
	sqlite3_close(handle);
}

static void test_values(Fixture *fixture, const void *data)
{
	static const int64_t bounds[] = {
		0, 1, 1 << 7, 1 << 15, 1 << 23, INT64_C(1) << 31, INT64_C(1) << 47, INT64_MAX};
	static const size_t lengths[] = {0, 1, 57, 58, LODE_FILE_RECORD_LONGEST_TEXT};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(bounds); i++)
		for (int64_t k = -2; k <= 0; k++) {
			int64_t value = bounds[i] + k;
			g_autofree char *text = g_strnfill(lengths[i % G_N_ELEMENTS(lengths)], 'x');
			check_values(fixture, (double)value, value, text);
			check_values(fixture, (double)value / 3, ~value, text);
		}
	check_values(fixture, 1e300, INT64_MIN, "");
	check_values(fixture, -5e-324, 2, "");
}

static const LodeColumn columns[] = {
	{"file", 0, LODE_COLUMN_MAYBE_REFERENCE, 0},
	{"line", 4, LODE_COLUMN_NUMBER, 0},
	{"inlined", 8, LODE_COLUMN_MAYBE_REFERENCE, 0},
};
static const LodeColumn text_columns[] = {{"text", 0, LODE_COLUMN_TEXT, 0}};

/* The hash of a profile's content does not say by which way its tables came. */
static void test_hash(Fixture *fixture, const void *data)
{
	const LodeRowTable locations = {"location", 12, columns, 3, NULL};
	const LodeRowTable strings = {"string", sizeof(char *), text_columns, 1, NULL};
	const uint32_t rows[] = {UINT32_MAX, 7, 0, 1, 0, UINT32_MAX};
	const char *const texts[] = {"", "a", "nine byte", "\xff"};
	LodeDatabase hashed = {0};

	(void)data;
	g_autoptr(LodeDatabase) database = lode_database_create(fixture->path, NULL, NULL);
	g_assert_true(lode_row_table_insert(&locations, rows, 2, database, NULL));
	g_assert_true(lode_row_table_insert(&strings, texts, 4, database, NULL));
	lode_row_table_hash(&locations, rows, 2, &hashed);
	lode_row_table_hash(&strings, texts, 4, &hashed);
	g_assert_cmphex(hashed.content, ==, database->content);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} cases[] = {
		{"/tree_writer/small", test_small},
		{"/tree_writer/many_levels", test_many_levels},
		{"/tree_writer/other_files", test_other_files},
		{"/tree_writer/values", test_values},
		{"/tree_writer/hash", test_hash},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_test_add(cases[i].name, Fixture, NULL, set_up, cases[i].run, tear_down);
	g_test_add_func("/tree_writer/lock_page", test_lock_page);
	return g_test_run();
}
