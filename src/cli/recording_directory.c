/* SPDX-License-Identifier: MIT */
/*
 * $TMPDIR/lode-run-PID-XXXXXX is locked as long as its process lives, so that one that a killed
 * process has left can be told from one in use, by the next run, which removes it. So are the
 * folders of base/private_folder.h, lode-read-PID-XXXXXX, which are removed likewise.
 */
#include "cli/recording_directory.h"

#include "base/error.h"
#include "base/temporary_path.h"
#include "cli/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "lode-run-"
#define COPY_PREFIX "lode-read-"

enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Takes the descriptor. Flat: recording makes no directories. */
static void empty(int descriptor)
{
	DIR *listing = fdopendir(descriptor);

	if (listing == NULL) {
		close(descriptor);
		return;
	}
	for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
		unlinkat(descriptor, entry->d_name, 0);
	closedir(listing);
}

/* The process id in the name: 0 where it is not a name of ours. */
static pid_t maker_of(const char *name)
{
	size_t length = g_str_has_prefix(name, PREFIX)        ? strlen(PREFIX)
	                : g_str_has_prefix(name, COPY_PREFIX) ? strlen(COPY_PREFIX)
	                                                      : 0;
	char *end;

	if (length == 0 || !g_ascii_isdigit(name[length]))
		return 0;
	guint64 pid = g_ascii_strtoull(name + length, &end, 10);
	return *end == '-' && pid <= G_MAXINT ? (pid_t)pid : 0;
}

/*
 * Both its process and its lock must be gone: in another container the id may be anybody's, and a
 * directory is not locked yet when it was just made. In a shared /tmp anybody may make a directory
 * or a link of that name, so it must be ours, and is opened without following.
 */
static void remove_if_stale(int parent, const char *name)
{
	pid_t maker = maker_of(name);
	struct stat status;

	if (maker == 0 || kill(maker, 0) == 0 || errno != ESRCH)
		return;
	int descriptor = openat(parent, name, FLAGS);
	if (descriptor < 0)
		return;
	if (fstat(descriptor, &status) != 0 || status.st_uid != geteuid() ||
		flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
		close(descriptor);
		return;
	}
	empty(descriptor);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_stale(const char *parent_path)
{
	int parent = open(parent_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g_autoptr(GDir) listing = parent >= 0 ? g_dir_open(parent_path, 0, NULL) : NULL;
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		remove_if_stale(parent, name);
	if (parent >= 0)
		close(parent);
}

static bool make_temporary(LodeRecordingDirectory *self, GError **error)
{
	g_autofree char *name = g_strdup_printf(PREFIX "%d-XXXXXX", (int)getpid());

	remove_stale(g_get_tmp_dir());
	self->path = g_build_filename(g_get_tmp_dir(), name, NULL);
	/* Handlers first, so that nothing can end us between making and removing. */
	lode_interrupt_cancellable();
	if (g_mkdtemp(self->path) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"cannot make a directory for the recording in '%s' (TMPDIR): %s",
			g_get_tmp_dir(), g_strerror(errno));
		return false;
	}
	lode_temporary_path_add(self->path);
	self->lock = open(self->path, FLAGS);
	/* Where there are no locks, the process id alone has to do. */
	if (self->lock >= 0)
		flock(self->lock, LOCK_EX | LOCK_NB);
	return true;
}

static bool is_of_recording(const char *name)
{
	static const char *const starts[] = {"callgrind.out.", "counts.", "valgrind.", "perf.data",
		"jit-", "allocations-", "trace.rps"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(name, starts[i]))
			return true;
	return false;
}

static bool make_kept(LodeRecordingDirectory *self, const char *path, GError **error)
{
	const char *name;

	self->path = g_strdup(path);
	self->is_kept = true;
	if (g_mkdir_with_parents(path, 0777) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot make directory '%s': %s",
			path, g_strerror(errno));
		return false;
	}
	g_autoptr(GDir) listing = g_dir_open(path, 0, error);
	if (listing == NULL)
		return false;
	while ((name = g_dir_read_name(listing)) != NULL) {
		if (!is_of_recording(name))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' holds a recording already; give --keep-recording another directory",
			path);
		return false;
	}
	return true;
}

LodeRecordingDirectory *lode_recording_directory_open(const char *kept, GError **error)
{
	LodeRecordingDirectory *self = g_new0(LodeRecordingDirectory, 1);

	self->lock = -1;
	bool is_made = kept != NULL ? make_kept(self, kept, error) : make_temporary(self, error);
	if (is_made)
		return self;
	g_free(self->path);
	g_free(self);
	return NULL;
}

static void replace_message(GError *error, char *message)
{
	g_free(error->message);
	error->message = message;
}

void lode_recording_directory_explain(const LodeRecordingDirectory *self, GError **error)
{
	static const struct {
		int code;
		const char *advice;
	} causes[] = {
		{ENOSPC, "set TMPDIR to a directory with more room, or give one by "
			 "--keep-recording"},
		{EDQUOT, "set TMPDIR to a directory with more room, or give one by "
			 "--keep-recording"},
		{EFBIG, "raise the limit of files (ulimit -f)"},
	};
	bool names_file = !self->is_kept && strstr((*error)->message, self->path) != NULL;

	for (size_t i = 0; names_file && i < G_N_ELEMENTS(causes); i++) {
		const char *reason = g_strerror(causes[i].code);
		if (!g_str_has_suffix((*error)->message, reason))
			continue;
		char *message = g_strdup_printf(
			"the recording cannot be written in '%s' (TMPDIR): %s; %s", g_get_tmp_dir(),
			reason, causes[i].advice);
		replace_message(*error, message);
		return;
	}
	const char *rest = strstr((*error)->message, ": ");
	if (names_file && rest != NULL && g_str_has_prefix((*error)->message, self->path))
		replace_message(*error, g_strdup(rest + strlen(": ")));
}

void lode_recording_directory_close(LodeRecordingDirectory *self)
{
	if (self == NULL)
		return;
	if (!self->is_kept) {
		if (self->lock >= 0)
			empty(self->lock);
		rmdir(self->path);
		lode_temporary_path_forget(self->path);
	}
	g_free(self->path);
	g_free(self);
}
