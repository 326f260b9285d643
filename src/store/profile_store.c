/* SPDX-License-Identifier: MIT */
#include "store/profile_store.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/new_file.h"
#include "model/profile.h"
#include "store/tables/inlining_tables.h"
#include "store/tables/loops/loop_table.h"
#include "store/tables/memory_tables.h"
#include "store/tables/origin_tables.h"
#include "store/tables/profile_tables.h"
#include "store/tables/stack_tables.h"
#include "store/tables/thread_tables.h"
#include "store/tables/window_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char indexes_sql[] =
#include "store/indexes_sql.h"
	;

/* Fills the temporary file; it is closed when this returns. */
static bool write_file(
	const char *path, LodeProfile *profile, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_create(path, progress, error);

	return database != NULL && lode_profile_tables_insert(profile, database, error) &&
	       lode_database_add_event_columns(database, profile->code.events->len, error) &&
	       lode_database_execute(database, indexes_sql, error) &&
	       lode_database_identify(database, path, &profile->file, error) &&
	       lode_database_execute(database, "COMMIT", error);
}

/*
 * Nobody may be adding to the old file while it is replaced, and no journal of it may stay,
 * for SQLite would play it back into the new one. NULL without error: no old file, or no database.
 */
static LodeDatabase *lock_old_file(const char *path, GError **error)
{
	GError *local_error = NULL;

	if (access(path, F_OK) != 0)
		return NULL;
	LodeDatabase *old = lode_database_open_exclusive(path, &local_error);
	if (g_error_matches(local_error, LODE_ERROR, LODE_ERROR_CORRUPT))
		g_clear_error(&local_error);
	if (local_error != NULL)
		g_propagate_error(error, local_error);
	return old;
}

bool lode_profile_store_can_keep_old(const char *path, GError **error)
{
	/* that of a link is beside its file */
	g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL)
	                                                                  : NULL;
	g_autofree char *kept = g_strconcat(
		file != NULL ? file : path, LODE_OLD_PROFILE_SUFFIX, NULL);
	struct stat status;

	if (!lode_file_kind_may_replace(LODE_FILE_KIND_PROFILE, path, "-o", error))
		return false;
	if (lode_file_kind(path) != LODE_FILE_KIND_PROFILE || lstat(kept, &status) != 0)
		return true;
	if (S_ISREG(status.st_mode) &&
		(status.st_size == 0 || lode_file_kind(kept) == LODE_FILE_KIND_PROFILE))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s' is not a profile, but the profile that is replaced is kept under that name: "
		"rename it, or give another name by -o",
		kept);
	return false;
}

/* A second link, so that there is a profile at `path` at any time. */
static bool keep_old_file(LodeDatabase *old, const char *path, GError **error)
{
	static const char *const companions[] = {"", "-journal", "-wal", "-shm"};
	g_autofree char *kept = g_strconcat(path, LODE_OLD_PROFILE_SUFFIX, NULL);
	int64_t id;

	if (old == NULL || !lode_database_query_integer(old, "PRAGMA application_id", &id, NULL) ||
		id != LODE_APPLICATION_ID)
		return true;
	if (!lode_profile_store_can_keep_old(path, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(companions); i++) {
		g_autofree char *name = g_strconcat(kept, companions[i], NULL);
		unlink(name);
	}
	/* Some file systems have no second links. */
	if (link(path, kept) == 0 || rename(path, kept) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot keep the old profile as '%s': %s",
		kept, g_strerror(errno));
	return false;
}

static bool put_in_place(LodeNewFile *file, GError **error)
{
	g_autofree char *journal = g_strconcat(file->path, "-journal", NULL);
	GError *local_error = NULL;
	LodeDatabase *old = lock_old_file(file->path, &local_error);

	if (local_error != NULL) {
		g_propagate_error(error, local_error);
		return false;
	}
	/* Locking has rolled back the interrupted write; the rest of the journal is useless. */
	bool done = unlink(journal) == 0 || errno == ENOENT;
	if (!done)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot remove '%s': %s", journal,
			g_strerror(errno));
	done = done && keep_old_file(old, file->path, error) && lode_new_file_commit(file, error);
	lode_database_close(old);
	return done;
}

bool lode_profile_store_write(
	const char *path, LodeProfile *profile, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeNewFile) file = NULL;

	if (!lode_file_kind_may_replace(LODE_FILE_KIND_PROFILE, path, "-o", error))
		return false;
	bool done = lode_profile_check(profile, error) && lode_memory_check(profile, error) &&
	            lode_stack_tables_check(profile, error) &&
	            lode_inlining_tables_check(profile, error) &&
	            lode_origin_tables_check(profile, error) &&
	            lode_thread_time_table_check(profile, error) &&
	            lode_wait_tables_check(profile, error) &&
	            lode_window_tables_check(profile, error) &&
	            lode_loop_table_check(profile, error) &&
	            (file = lode_new_file_open(path, error)) != NULL &&
	            write_file(file->temporary_path, profile, progress, error);

	if (done && lode_progress_is_cancelled(progress)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "cancelled");
		done = false;
	}
	done = done && put_in_place(file, error);
	if (!done)
		g_prefix_error(error, "%s: ", path);
	return done;
}

/* Reads the parts besides the profile itself. */
typedef bool (*ReadMore)(LodeProfile *profile, LodeDatabase *database, GError **error);

static LodeProfile *read_profile(
	const char *path, ReadMore read_more, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_open(path, progress, error);
	g_autoptr(LodeProfile) profile = lode_profile_new();

	if (database == NULL || !lode_database_identify(database, path, &profile->file, error) ||
		!lode_profile_tables_read(profile, database, error) ||
		(read_more != NULL && !read_more(profile, database, error))) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&profile);
}

LodeProfile *lode_profile_store_read(const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, NULL, progress, error);
}

LodeProfile *lode_profile_store_read_with_memory(
	const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, lode_memory_tables_read, progress, error);
}

LodeProfile *lode_profile_store_read_with_stacks(
	const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, lode_stack_tables_read, progress, error);
}

static bool read_memory_and_stacks(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_memory_tables_read(profile, database, error) &&
	       lode_stack_tables_read(profile, database, error);
}

LodeProfile *lode_profile_store_read_with_memory_and_stacks(
	const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, read_memory_and_stacks, progress, error);
}

static bool read_parts_and_stacks(LodeProfile *profile, LodeDatabase *database, GError **error)
{
	return lode_origin_tables_read_parts(profile, database, error) &&
	       lode_stack_tables_read(profile, database, error);
}

LodeProfile *lode_profile_store_read_with_origins(
	const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, read_parts_and_stacks, progress, error);
}
