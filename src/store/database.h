/* SPDX-License-Identifier: MIT */
/*
 * An open profile file. Opening an existing one checks that it is a profile of a schema this lode
 * knows and that its tables are the ones schema.sql makes, text for text: a file made to harm
 * cannot put a view, a virtual table, a computed column or a trigger in their place.
 */
#pragma once

#include "base/progress.h"
#include "store/guarded_vfs.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfileFile LodeProfileFile;

#define LODE_APPLICATION_ID 0x6c6f6465 /* "lode" */

/* The largest number of events of a run: SQLite's limit of columns, less those of `mined_support`.
 */
#define LODE_DATABASE_MAX_EVENTS 1900

typedef struct {
	sqlite3 *handle;
	int version; /* of the schema */
	LodeGuardedVfs files;
	const LodeProgress *progress; /* borrowed; may be NULL */
	const char *stage;            /* the reported stage */
	double rows_done, rows_total; /* in this stage */
	gint64 reported_us;           /* when it was last reported */
	uint64_t content;             /* hash of the values written so far */
} LodeDatabase;

/* Makes the tables in an empty file that is to be renamed later: no journal, no syncing. */
LodeDatabase *lode_database_create(const char *path, const LodeProgress *progress, GError **error);

/* Opens a profile to read it, and writes nothing beside it: if a killed writer left an interrupted
 * write, that is rolled back in a temporary copy, which is opened instead. */
LodeDatabase *lode_database_open(const char *path, const LodeProgress *progress, GError **error);

/* Opens a profile to add to it, with a rollback journal; undoes first what a killed writer left
 * half done. */
LodeDatabase *lode_database_open_writable(
	const char *path, const LodeProgress *progress, GError **error);

/* Opens any database and keeps all others out of it, to replace its file. _CORRUPT: it is none. */
LodeDatabase *lode_database_open_exclusive(const char *path, GError **error);

void lode_database_close(LodeDatabase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDatabase, lode_database_close)

/* Identifies the database's file; `path` is the one by which it was opened. */
bool lode_database_identify(
	LodeDatabase *self, const char *path, LodeProfileFile *out_file, GError **error);

/* Runs SQL that gives no rows. */
bool lode_database_execute(LodeDatabase *self, const char *sql, GError **error);

/* Whether the file has a table of this name: files of before need not have all. */
bool lode_database_has_table(LodeDatabase *self, const char *name, bool *out_has, GError **error);

/* A statement; the caller finalises it. */
sqlite3_stmt *lode_database_prepare(LodeDatabase *self, const char *sql, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sqlite3_stmt, sqlite3_finalize)

/* Makes the tables of sequences, or the views of them. */
bool lode_database_make_sequence_tables(LodeDatabase *self, GError **error);
bool lode_database_make_sequence_views(LodeDatabase *self, GError **error);

/* The one integer that a query gives. */
bool lode_database_query_integer(
	LodeDatabase *self, const char *sql, int64_t *out_value, GError **error);

/* Adds the columns event_1 … event_n to the table `mined_support`, if they are missing. */
bool lode_database_add_event_columns(LodeDatabase *self, size_t n, GError **error);

/* Sets `error` from the last failure of SQLite; gives false. */
bool lode_database_fail(LodeDatabase *self, GError **error);
