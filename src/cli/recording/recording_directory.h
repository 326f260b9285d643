/* SPDX-License-Identifier: MIT */
/* Private to cli/: where a recording's files are while they are made; removed when we end. */
#pragma once

#include "base/files/run_folder.h"

typedef struct {
	char *path;
	LodeRunFolder *temporary; /* NULL: it is kept */
	bool is_kept;
} LodeRecordingDirectory;

/*
 * `kept` NULL: a new directory in $TMPDIR, which close() removes with what is in it, and so does a
 * second Ctrl-C; those that killed processes of this user left there are removed. Else that one,
 * made if need be, which stays; it must hold no recording yet.
 */
LodeRecordingDirectory *lode_recording_directory_open(const char *kept, GError **error);
void lode_recording_directory_close(LodeRecordingDirectory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRecordingDirectory, lode_recording_directory_close)

/*
 * Shortens the message of a failure in a directory that will be removed: the file's name means
 * nothing to the user and is left out. Where the disk or a limit is full, the message names TMPDIR
 * and the option that helps. Other messages are not changed.
 */
void lode_recording_directory_explain(const LodeRecordingDirectory *self, GError **error);
