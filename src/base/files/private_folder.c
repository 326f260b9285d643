/* SPDX-License-Identifier: MIT */
#include "base/files/private_folder.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define NAME "lode-read"

enum { MAX_NAME = 64 }; /* limit of the part taken of a file's name */

static bool is_ours(const char *name)
{
	return strcmp(name, NAME) == 0 || strcmp(name, LODE_RUN_FOLDER_NAME) == 0;
}

void lode_private_folders_remove_left(void)
{
	lode_run_folder_remove_stale(g_get_tmp_dir(), is_ours);
}

LodePrivateFolder *lode_private_folder_new(GError **error)
{
	lode_private_folders_remove_left();
	LodeRunFolder *folder = lode_run_folder_make(g_get_tmp_dir(), NAME);

	if (folder == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", g_get_tmp_dir(),
			g_strerror(errno));
		return NULL;
	}
	LodePrivateFolder *self = g_new0(LodePrivateFolder, 1);
	self->folder = folder;
	self->path = folder->path;
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
	lode_run_folder_remove(self->folder);
	g_free(self);
}
