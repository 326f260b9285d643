/* SPDX-License-Identifier: MIT */
/*
 * A folder for the files of a run: PARENT/NAME-PID-XXXXXX. It is locked as long as its process
 * lives, so that the next run can distinguish a folder left by a killed process from one in use,
 * and removes it. It holds no folders.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	char *path;
	int lock; /* its descriptor, locked; −1: none */
} LodeRunFolder;

/* Makes one, which a second Ctrl-C removes too. Errors: those of mkdtemp(3), in errno. */
LodeRunFolder *lode_run_folder_make(const char *parent, const char *name);

/* Removes it with all that is in it. */
void lode_run_folder_remove(LodeRunFolder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRunFolder, lode_run_folder_remove)

/* Removes those that killed processes of this user have left in a folder, whose names before the
 * process id are ours. */
void lode_run_folder_remove_stale(const char *parent, bool (*is_ours)(const char *name));
