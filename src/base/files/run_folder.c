/* SPDX-License-Identifier: MIT */
#include "base/files/run_folder.h"

#include "base/files/temporary_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, RANDOM_LENGTH = 6 };

/* Takes the descriptor. */
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

LodeRunFolder *lode_run_folder_make(const char *parent, const char *name)
{
	LodeRunFolder *self = g_new0(LodeRunFolder, 1);

	self->path = g_strdup_printf("%s/%s-%d-XXXXXX", parent, name, (int)getpid());
	if (g_mkdtemp(self->path) == NULL) {
		int code = errno;
		g_free(self->path);
		g_free(self);
		errno = code;
		return NULL;
	}
	lode_temporary_path_add(self->path);
	self->lock = open(self->path, FLAGS);
	/* Where there are no locks, the process id alone has to do. */
	if (self->lock >= 0)
		flock(self->lock, LOCK_EX | LOCK_NB);
	return self;
}

void lode_run_folder_remove(LodeRunFolder *self)
{
	if (self == NULL)
		return;
	if (self->lock >= 0)
		empty(self->lock);
	rmdir(self->path);
	lode_temporary_path_forget(self->path);
	g_free(self->path);
	g_free(self);
}

/* The process id in "NAME-PID-XXXXXX"; 0 where it is not such a name of ours. */
static pid_t maker_of(const char *name, bool (*is_ours)(const char *name))
{
	g_autofree char *head = g_strdup(name);
	char *random = strrchr(head, '-'), *end;

	if (random == NULL || strlen(random + 1) != RANDOM_LENGTH)
		return 0;
	*random = '\0';
	char *number = strrchr(head, '-');
	if (number == NULL || !g_ascii_isdigit(number[1]))
		return 0;
	*number = '\0';
	guint64 pid = g_ascii_strtoull(number + 1, &end, 10);
	return *end == '\0' && pid <= G_MAXINT && is_ours(head) ? (pid_t)pid : 0;
}

/*
 * Both its process and its lock must be gone: in another container the id may be anybody's, and a
 * folder is not locked yet when it was just made. In a shared /tmp anybody may make a folder or a
 * link of that name, so it must be ours, and is opened without following.
 */
static void remove_if_stale(int parent, const char *name, bool (*is_ours)(const char *name))
{
	pid_t maker = maker_of(name, is_ours);
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

void lode_run_folder_remove_stale(const char *parent_path, bool (*is_ours)(const char *name))
{
	int parent = open(parent_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g_autoptr(GDir) listing = parent >= 0 ? g_dir_open(parent_path, 0, NULL) : NULL;
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		remove_if_stale(parent, name, is_ours);
	if (parent >= 0)
		close(parent);
}
