/* SPDX-License-Identifier: MIT */
/*
 * A profile and its journal, copied to a temporary folder of our own, for a reader that finds a
 * write begun and not ended: SQLite plays a journal back into the database itself, and a reader
 * must not change the profile. Private to store/.
 */
#pragma once

#include "base/files/private_folder.h"

typedef struct {
	LodePrivateFolder *folder;
	char *path, *journal_path;
} LodePrivateCopy;

/*
 * Copies both under the lock that SQLite's readers take, so that no writer changes them meanwhile.
 * Holes stay holes. Errors: _IO, also when another process keeps the profile locked; _CORRUPT for a
 * journal that no writer of the profile can have left.
 */
LodePrivateCopy *lode_private_copy_new(const char *path, GError **error);

/* Removes the files and the folder; open files stay usable. */
void lode_private_copy_free(LodePrivateCopy *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePrivateCopy, lode_private_copy_free)
