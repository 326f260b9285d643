/* SPDX-License-Identifier: MIT */
/*
 * A file that is made under a temporary name beside its place and takes its place when it is whole:
 *
 *   .x.lode.4711-8f3a29c1.tmp  ── sync, rename, sync the folder ──▶  x.lode
 *
 * The temporary file is locked while it is made, so that a file left by a killed process can be
 * distinguished from one that is being written; the next writer of the same name removes it,
 * and with it the temporary folders of killed processes (private_folder.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	char *path;           /* where it will be; links resolved */
	char *temporary_path; /* where it is written */
	int descriptor; /* of the temporary file, holding its lock; −1 once it is in place */
} LodeNewFile;

/* Makes the empty temporary file. Refuses to replace anything but a regular file. */
LodeNewFile *lode_new_file_open(const char *path, GError **error);

/* Syncs the file and puts it in its place. */
bool lode_new_file_commit(LodeNewFile *self, GError **error);

/* Removes the temporary file unless it was committed. */
void lode_new_file_close(LodeNewFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeNewFile, lode_new_file_close)
