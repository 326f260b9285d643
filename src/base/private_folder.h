/* SPDX-License-Identifier: MIT */
/*
 * A temporary folder for this process alone: $TMPDIR/lode-read-PID-XXXXXX. It holds files and no
 * folders, and is removed with them; the next recording removes one that a killed process has left,
 * which it tells by the name and by the lock that is held on the folder
 * (cli/recording_directory.h).
 */
#pragma once

#include <glib.h>

typedef struct {
	char *path;
	int lock;         /* held on the folder; −1: none */
	unsigned n_files; /* that have a name from lode_private_folder_next() */
} LodePrivateFolder;

/* Errors: _IO, which name the folder that it was to lie in. */
LodePrivateFolder *lode_private_folder_new(GError **error);

/*
 * A path in the folder that no file has yet: "PATH/3-libfoo.so". `name` says for people which file
 * it is; what cannot stand in a file's name is replaced in it. The caller frees it.
 */
char *lode_private_folder_next(LodePrivateFolder *self, const char *name);

/* Removes the folder and its files; whoever has them open keeps them. */
void lode_private_folder_free(LodePrivateFolder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePrivateFolder, lode_private_folder_free)
