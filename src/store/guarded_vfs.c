/* SPDX-License-Identifier: MIT */
#include "store/guarded_vfs.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

/* A second name (a hard link) means that it may have been put there from elsewhere, as anybody can
 * do in a shared directory. */
bool lode_guarded_vfs_trusts(const struct stat *database, const struct stat *beside)
{
	return S_ISREG(beside->st_mode) && beside->st_nlink == 1 &&
	       (beside->st_uid == database->st_uid || beside->st_uid == geteuid());
}

static bool is_beside(const LodeGuardedVfs *self, const char *name, const char *suffix)
{
	size_t length = self->path != NULL ? strlen(self->path) : 0;

	return length > 0 && strncmp(name, self->path, length) == 0 &&
	       strcmp(name + length, suffix) == 0;
}

static bool is_trusted(const LodeGuardedVfs *self, const char *suffix)
{
	g_autofree char *path = g_strconcat(self->path, suffix, NULL);
	struct stat database, beside;

	if (lstat(path, &beside) != 0)
		return errno == ENOENT;
	return stat(self->path, &database) == 0 && lode_guarded_vfs_trusts(&database, &beside);
}

static LodeRefusal find_refusal(const LodeGuardedVfs *self, const char *name, int flags)
{
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && is_beside(self, name, "-journal"))
		return is_trusted(self, "-journal") ? LODE_REFUSED_NOTHING
		                                    : LODE_REFUSED_FOREIGN_FILE;
	if ((flags & SQLITE_OPEN_WAL) == 0 || !is_beside(self, name, "-wal"))
		return LODE_REFUSED_SUPER_JOURNAL;
	/* SQLite would write the log's index, "-shm", even for a reader. */
	if (self->is_read_only)
		return LODE_REFUSED_LOG;
	return is_trusted(self, "-wal") && is_trusted(self, "-shm") ? LODE_REFUSED_NOTHING
	                                                            : LODE_REFUSED_FOREIGN_FILE;
}

static int open_file(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	LodeGuardedVfs *self = (LodeGuardedVfs *)vfs;
	LodeRefusal refusal = LODE_REFUSED_NOTHING;

	if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && self->path == NULL)
		self->path = g_strdup(name);
	else if (name != NULL) /* NULL: a temporary file, which SQLite names itself */
		refusal = find_refusal(self, name, flags);
	if (refusal == LODE_REFUSED_NOTHING)
		return self->real->xOpen(self->real, name, file, flags, out_flags);
	self->refusal = refusal;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static bool is_own(LodeGuardedVfs *self, const char *name)
{
	if (is_beside(self, name, "-journal") || is_beside(self, name, "-wal"))
		return true;
	self->refusal = LODE_REFUSED_SUPER_JOURNAL;
	return false;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int must_sync)
{
	LodeGuardedVfs *self = (LodeGuardedVfs *)vfs;

	if (!is_own(self, name))
		return SQLITE_IOERR_DELETE;
	/* SQLite would remove a log beside an empty file: a reader leaves it. */
	if (self->is_read_only)
		return SQLITE_OK;
	return self->real->xDelete(self->real, name, must_sync);
}

/* SQLite asks for a super-journal before it plays anything back; an error stops it there. */
static int look_for_file(sqlite3_vfs *vfs, const char *name, int flags, int *out_answer)
{
	LodeGuardedVfs *self = (LodeGuardedVfs *)vfs;

	if (!is_own(self, name))
		return SQLITE_IOERR_ACCESS;
	return self->real->xAccess(self->real, name, flags, out_answer);
}

void lode_guarded_vfs_init(LodeGuardedVfs *self, bool is_read_only)
{
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	*self = (LodeGuardedVfs){.base = *real, .real = real, .is_read_only = is_read_only};
	g_snprintf(self->name, sizeof(self->name), "lode-%p", (void *)self);
	self->base.pNext = NULL;
	self->base.zName = self->name;
	self->base.xOpen = open_file;
	self->base.xDelete = delete_file;
	self->base.xAccess = look_for_file;
	sqlite3_vfs_register(&self->base, 0);
}

void lode_guarded_vfs_clear(LodeGuardedVfs *self)
{
	if (self->real != NULL)
		sqlite3_vfs_unregister(&self->base);
	g_free(self->path);
	*self = (LodeGuardedVfs){0};
}
