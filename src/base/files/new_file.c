/* SPDX-License-Identifier: MIT */
#include "base/files/new_file.h"

#include "base/error.h"
#include "base/files/private_folder.h"
#include "base/files/temporary_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_SUFFIX ".tmp"
#define JOURNAL_SUFFIX "-journal"

static bool fail(GError **error, const char *what)
{
	int code = errno;

	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", what, g_strerror(code));
	return false;
}

/* A file that does not exist is free. */
static bool is_unlocked(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (descriptor < 0)
		return errno == ENOENT;
	bool is_free = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
	close(descriptor);
	return is_free;
}

/* Whether `name` is a temporary file, or SQLite's journal of one, whose maker has ended. */
static bool is_stale(const char *folder, const char *name, const char *prefix)
{
	bool is_journal = g_str_has_suffix(name, TEMPORARY_SUFFIX JOURNAL_SUFFIX);
	char *rest;

	if (!g_str_has_prefix(name, prefix) ||
		(!is_journal && !g_str_has_suffix(name, TEMPORARY_SUFFIX)))
		return false;
	guint64 pid = g_ascii_strtoull(name + strlen(prefix), &rest, 10);
	if (*rest != '-' || pid == 0 || pid > G_MAXINT)
		return false;
	if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return false;
	/* The maker may live in another container, where process ids are others: ask the lock. */
	g_autofree char *path = g_build_filename(folder, name, NULL);
	if (is_journal)
		path[strlen(path) - strlen(JOURNAL_SUFFIX)] = '\0';
	return is_unlocked(path);
}

static void remove_stale(const char *folder, const char *prefix)
{
	g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
	const char *name;

	while (entries != NULL && (name = g_dir_read_name(entries)) != NULL) {
		if (!is_stale(folder, name, prefix))
			continue;
		g_autofree char *path = g_build_filename(folder, name, NULL);
		unlink(path);
	}
}

static bool can_replace(const char *path, mode_t *out_mode, GError **error)
{
	struct stat status;

	*out_mode = 0;
	if (stat(path, &status) != 0)
		return errno == ENOENT || fail(error, "cannot write");
	*out_mode = status.st_mode & 0777;
	if (S_ISREG(status.st_mode))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, "cannot write: not a regular file");
	return false;
}

/* Makes, locks and dresses the temporary file; it keeps the mode of the file that it replaces. */
static bool make_temporary(LodeNewFile *self, mode_t mode, GError **error)
{
	self->descriptor = open(self->temporary_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (self->descriptor < 0)
		return fail(error, "cannot write");
	lode_temporary_path_add(self->temporary_path);
	/* Some network file systems have no locks; then the process id alone has to do. */
	if (flock(self->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return fail(error, "cannot lock the temporary file");
	if (mode != 0 && fchmod(self->descriptor, mode) != 0)
		return fail(error, "cannot write");
	return true;
}

LodeNewFile *lode_new_file_open(const char *path, GError **error)
{
	g_autoptr(LodeNewFile) self = g_new0(LodeNewFile, 1);
	mode_t mode;

	self->descriptor = -1;
	if (strcmp(path, "-") == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"this cannot be written to standard output; a file of that name is './-'");
		return NULL;
	}
	if (!can_replace(path, &mode, error))
		return NULL;
	self->path = realpath(path, NULL);
	if (self->path == NULL)
		self->path = g_canonicalize_filename(path, NULL);
	g_autofree char *folder = g_path_get_dirname(self->path);
	g_autofree char *base = g_path_get_basename(self->path);
	/* Cut where the name would grow too long for a folder. */
	g_autofree char *prefix = g_strdup_printf(".%.200s.", base);
	remove_stale(folder, prefix);
	lode_private_folders_remove_left();
	g_autofree char *name = g_strdup_printf(
		"%s%d-%08x" TEMPORARY_SUFFIX, prefix, (int)getpid(), g_random_int());
	self->temporary_path = g_build_filename(folder, name, NULL);
	return make_temporary(self, mode, error) ? g_steal_pointer(&self) : NULL;
}

static bool sync_folder(const char *path, GError **error)
{
	g_autofree char *folder = g_path_get_dirname(path);
	int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (descriptor < 0)
		return errno == EACCES || fail(error, "cannot sync the folder");
	/* Some file systems cannot sync a folder and say EINVAL. */
	bool done = fsync(descriptor) == 0 || errno == EINVAL ||
	            fail(error, "cannot sync the folder");
	close(descriptor);
	return done;
}

bool lode_new_file_commit(LodeNewFile *self, GError **error)
{
	if (fsync(self->descriptor) != 0)
		return fail(error, "cannot sync");
	if (rename(self->temporary_path, self->path) != 0)
		return fail(error, "cannot rename the finished file");
	lode_temporary_path_forget(self->temporary_path);
	close(self->descriptor);
	self->descriptor = -1;
	return sync_folder(self->path, error);
}

void lode_new_file_close(LodeNewFile *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0) {
		unlink(self->temporary_path);
		lode_temporary_path_forget(self->temporary_path);
		close(self->descriptor);
	}
	g_free(self->path);
	g_free(self->temporary_path);
	g_free(self);
}
