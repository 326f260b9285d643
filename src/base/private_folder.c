/* SPDX-License-Identifier: MIT */
#include "base/private_folder.h"

#include "base/error.h"
#include "base/temporary_path.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
enum { MAX_NAME = 64 }; /* of what is taken of a file's name */

LodePrivateFolder *lode_private_folder_new(GError **error)
{
	g_autofree char *name = g_strdup_printf("lode-read-%d-XXXXXX", (int)getpid());
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);

	if (g_mkdtemp(path) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", g_get_tmp_dir(),
			g_strerror(errno));
		return NULL;
	}
	LodePrivateFolder *self = g_new0(LodePrivateFolder, 1);
	self->path = g_steal_pointer(&path);
	lode_temporary_path_add(self->path);
	self->lock = open(self->path, FOLDER_FLAGS);
	if (self->lock >= 0)
		flock(self->lock, LOCK_EX | LOCK_NB);
	return self;
}

char *lode_private_folder_next(LodePrivateFolder *self, const char *name)
{
	g_autofree char *base = g_path_get_basename(name);
	g_autofree char *numbered = NULL;

	if (strlen(base) > MAX_NAME)
		base[MAX_NAME] = '\0';
	g_strcanon(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.", '_');
	numbered = g_strdup_printf("%u-%s", ++self->n_files, base);
	return g_build_filename(self->path, numbered, NULL);
}

void lode_private_folder_free(LodePrivateFolder *self)
{
	if (self == NULL)
		return;
	g_autoptr(GDir) listing = g_dir_open(self->path, 0, NULL);
	const char *name;
	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *file = g_build_filename(self->path, name, NULL);
		g_unlink(file);
	}
	g_rmdir(self->path);
	lode_temporary_path_forget(self->path);
	if (self->lock >= 0)
		close(self->lock);
	g_free(self->path);
	g_free(self);
}
