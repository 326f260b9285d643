/* SPDX-License-Identifier: MIT */
/*
 * A temporary folder for what this process unpacks: $TMPDIR/lode-read-PID-XXXXXX, a folder of a run
 * (base/files/run_folder.h).
 */
#pragma once

#include "base/files/run_folder.h"

/* The name of the folder of a recording, which record/ makes likewise. */
#define LODE_RUN_FOLDER_NAME "lode-run"

typedef struct {
	LodeRunFolder *folder;
	const char *path; /* the folder's */
	unsigned n_files; /* that have a name from lode_private_folder_next() */
} LodePrivateFolder;

/*
 * Removes the folders of runs and of unpacked files that killed processes of this user have left
 * in $TMPDIR. Whoever makes one or writes a file (new_file.h) does so first.
 */
void lode_private_folders_remove_left(void);

/* Errors: _IO, which name the folder that it was to lie in. */
LodePrivateFolder *lode_private_folder_new(GError **error);

/*
 * A path in the folder that no file has yet: "PATH/3-libfoo.so". `name` says for people which file
 * it is; what cannot stand in a file's name is replaced in it. The caller frees it.
 */
char *lode_private_folder_next(LodePrivateFolder *self, const char *name);

/* Removes the folder and its files; open files stay usable. */
void lode_private_folder_free(LodePrivateFolder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePrivateFolder, lode_private_folder_free)
