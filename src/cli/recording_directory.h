/* SPDX-License-Identifier: MIT */
/* Where a recording's files lie while they are made: in a directory that goes when we go. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	char *path;
	bool is_kept;
} LodeRecordingDirectory;

/*
 * `kept` NULL: a new directory in $TMPDIR, which close() removes with what is in it, and so does a
 * second Ctrl-C. Else that one, made if need be, which stays; it must hold no recording yet.
 */
LodeRecordingDirectory *lode_recording_directory_open(const char *kept, GError **error);
void lode_recording_directory_close(LodeRecordingDirectory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRecordingDirectory, lode_recording_directory_close)
