/* SPDX-License-Identifier: MIT */
#include "store/private_copy.h"

#include "base/error.h"
#include "store/guarded_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Where SQLite's shared lock lies: https://www.sqlite.org/lockingv3.html, os.h SHARED_FIRST. */
enum { SHARED_LOCK_START = 0x40000002, SHARED_LOCK_LENGTH = 510 };
enum { LOCK_TRIES = 50, LOCK_INTERVAL_US = 100000, COPY_SIZE = 1 << 20 };

#define REASON "a write to it was interrupted, and a copy in which to undo that cannot be made: "

static bool fail(GError **error, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, REASON "%s: %s", what, g_strerror(errno));
	return false;
}

/* A lock of the open file description: the process would lose an ordinary lock as soon as it closes
 * any descriptor of the file, SQLite's for instance (fcntl(2)). */
static bool lock_shared(int descriptor, GError **error)
{
	struct flock lock = {
		.l_type = F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = SHARED_LOCK_START,
		.l_len = SHARED_LOCK_LENGTH,
	};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0)
			return true;
		if (errno != EAGAIN && errno != EACCES)
			return fail(error, "cannot lock the profile");
		g_usleep(LOCK_INTERVAL_US);
	}
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, "in use by another process");
	return false;
}

static bool copy_range(int from, int to, off_t at, off_t end, char *buffer)
{
	while (at < end) {
		ssize_t n = pread(from, buffer, (size_t)MIN(end - at, (off_t)COPY_SIZE), at);
		for (ssize_t done = 0, written; done < n; done += written)
			if ((written = pwrite(to, buffer + done, (size_t)(n - done), at + done)) <=
				0)
				return false;
		if (n <= 0)
			return n == 0;
		at += n;
	}
	return true;
}

static bool copy_data(int from, int to)
{
	g_autofree char *buffer = g_malloc(COPY_SIZE);
	off_t size = lseek(from, 0, SEEK_END), hole = 0;

	if (size < 0 || ftruncate(to, size) != 0)
		return false;
	while (hole < size) {
		off_t data = lseek(from, hole, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO; /* nothing but a hole is left */
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || !copy_range(from, to, data, hole, buffer))
			return false;
	}
	return true;
}

static bool copy_to(int from, const char *path, GError **error)
{
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (to < 0)
		return fail(error, path);
	bool done = copy_data(from, to) || fail(error, path);
	close(to);
	return done;
}

/* No journal: another process has rolled it back by now. */
static bool copy_journal(LodePrivateCopy *self, const char *path, int database, GError **error)
{
	g_autofree char *journal_path = g_strconcat(path, "-journal", NULL);
	int journal = open(journal_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status, beside;

	if (journal < 0 && errno == ENOENT)
		return true;
	if (journal < 0 && errno != ELOOP)
		return fail(error, journal_path);
	bool is_trusted = journal >= 0 && fstat(database, &status) == 0 &&
	                  fstat(journal, &beside) == 0 && lode_guarded_vfs_trusts(&status, &beside);
	if (!is_trusted)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the -journal file beside it is not one that its owner or you left: look "
			"at it, then remove it");
	bool done = is_trusted && copy_to(journal, self->journal_path, error);
	if (journal >= 0)
		close(journal);
	return done;
}

static bool copy_both(LodePrivateCopy *self, const char *path, GError **error)
{
	/* The journal lies beside the file itself, not beside a link to it. */
	g_autofree char *real_path = realpath(path, NULL);
	int database = real_path != NULL ? open(real_path, O_RDONLY | O_CLOEXEC) : -1;

	if (database < 0)
		return fail(error, path);
	bool done = lock_shared(database, error) && copy_to(database, self->path, error) &&
	            copy_journal(self, real_path, database, error);
	close(database);
	return done;
}

LodePrivateCopy *lode_private_copy_new(const char *path, GError **error)
{
	g_autoptr(LodePrivateFolder) folder = lode_private_folder_new(error);

	if (folder == NULL) {
		g_prefix_error(error, REASON);
		return NULL;
	}
	g_autoptr(LodePrivateCopy) self = g_new0(LodePrivateCopy, 1);
	self->path = g_build_filename(folder->path, "copy.lode", NULL);
	self->journal_path = g_build_filename(folder->path, "copy.lode-journal", NULL);
	self->folder = g_steal_pointer(&folder);
	if (!copy_both(self, path, error))
		return NULL;
	return g_steal_pointer(&self);
}

void lode_private_copy_free(LodePrivateCopy *self)
{
	if (self == NULL)
		return;
	lode_private_folder_free(self->folder);
	g_free(self->path);
	g_free(self->journal_path);
	g_free(self);
}
