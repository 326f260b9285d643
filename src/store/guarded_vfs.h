/* SPDX-License-Identifier: MIT */
/*
 * SQLite's way to files, narrowed to one database: a connection opened through it touches the
 * database, its own journal and its own write-ahead log, and nothing else. Private to store/.
 *
 * It matters because a journal may name a "super-journal", and SQLite deletes the file of that name
 * once it has played the journal back (pager.c, readSuperJournal() and pager_delsuper(); the name
 * ends the journal: https://www.sqlite.org/fileformat2.html, section 3). A journal that came with a
 * profile from a stranger could name any file. lode writes one database at a time and never makes a
 * super-journal.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Why the last refusal was. */
typedef enum {
	LODE_REFUSED_NOTHING,
	LODE_REFUSED_FOREIGN_FILE,  /* a journal or log that its writer did not leave */
	LODE_REFUSED_SUPER_JOURNAL, /* the journal names one */
	LODE_REFUSED_LOG,           /* a write-ahead log, on a connection that only reads */
} LodeRefusal;

typedef struct {
	sqlite3_vfs base; /* first: SQLite hands this back */
	sqlite3_vfs *real;
	char name[32];
	char *path; /* of the database, as SQLite resolved it; NULL before it is opened */
	bool is_read_only;
	LodeRefusal refusal;
} LodeGuardedVfs;

/* Registers it under `self->name`. `self` must not move until it is cleared. */
void lode_guarded_vfs_init(LodeGuardedVfs *self, bool is_read_only);

/* Takes a zeroed one, too. The connection must be closed. */
void lode_guarded_vfs_clear(LodeGuardedVfs *self);

/*
 * Whether a file beside the database is one that a writer of the database can have left: a regular
 * file under one name that belongs to the database's owner or to us. In a folder where others may
 * make files, anybody can put a journal beside a profile.
 */
bool lode_guarded_vfs_trusts(const struct stat *database, const struct stat *beside);
