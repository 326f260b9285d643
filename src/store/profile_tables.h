/* SPDX-License-Identifier: MIT */
/* The arrays of a profile as tables of its file, both ways, and their rules. Private to store/. */
#pragma once

#include "model/profile.h"
#include "store/database.h"

/*
 * A profile on its way into its file. Tables of many short rows and their indexes are filled after
 * the database is closed, as pages; what is left goes through SQLite. The profile must have passed
 * lode_profile_check().
 */
typedef struct LodeProfileTables LodeProfileTables;
LodeProfileTables *lode_profile_tables_new(const LodeProfile *profile);
void lode_profile_tables_free(LodeProfileTables *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProfileTables, lode_profile_tables_free)

/* Fills the empty tables that SQLite is to fill, but those of runs; then makes the indexes. */
bool lode_profile_tables_insert(LodeProfileTables *self, LodeDatabase *database, GError **error);
bool lode_profile_tables_add_indexes(
	LodeProfileTables *self, LodeDatabase *database, GError **error);

/* Fills the others in the closed file at `path`. */
bool lode_profile_tables_write_pages(
	LodeProfileTables *self, const char *path, const LodeProgress *progress, GError **error);

/* Reads all tables into the empty profile, but those of its memory and of runs, and checks them. */
bool lode_profile_tables_read(LodeProfile *profile, LodeDatabase *database, GError **error);

/*
 * The rules that model/profile.h sets for a profile's arrays: references inside bounds, ranges that
 * follow each other, sorted orders, numbers that are numbers. The writer asks before it writes and
 * the reader after it has read, so that what was written can be read. _CORRUPT with table and row
 * (from 1) of the first broken rule.
 */
bool lode_profile_check(const LodeProfile *profile, GError **error);
