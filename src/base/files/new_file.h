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

/* Whether a file at `path` is of the kind that is to be written there, so that it may be replaced.
 */
typedef bool (*LodeIsOfKind)(const char *path);

/*
 * Whether a file may be written to `path` without replacing one of a different kind: there is no
 * file, or an empty one, or one of `kind` ("recording"), or one that is not regular, which is
 * refused elsewhere. Errors name the file: _USAGE.
 */
bool lode_new_file_may_replace(
	const char *path, LodeIsOfKind is_of_kind, const char *kind, GError **error);

/* Whether a regular file begins with these bytes. */
bool lode_file_begins_with(const char *path, const void *bytes, size_t size);

/* Syncs the file and puts it in its place. */
bool lode_new_file_commit(LodeNewFile *self, GError **error);

/* Removes the temporary file unless it was committed. */
void lode_new_file_close(LodeNewFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeNewFile, lode_new_file_close)
