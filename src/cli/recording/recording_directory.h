/* SPDX-License-Identifier: MIT */
/* Private to cli/: the directory of a recording's files while they are written; removed at the end.
 */
#pragma once

#include "base/files/run_folder.h"

typedef struct {
	char *path;
	LodeRunFolder *temporary; /* NULL: the directory is kept */
	bool is_kept;
} LodeRecordingDirectory;

/*
 * `kept` NULL: a new directory in $TMPDIR, which close() removes with its contents, as does a
 * second Ctrl-C; directories left there by killed processes of this user are removed. Otherwise the
 * directory `kept`, created if necessary, which is not removed; it must not contain a recording.
 */
LodeRecordingDirectory *lode_recording_directory_open(const char *kept, GError **error);
void lode_recording_directory_close(LodeRecordingDirectory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRecordingDirectory, lode_recording_directory_close)

/*
 * Shortens the message of a failure in a directory that will be removed: it leaves out the file's
 * name, which is of no use to the user. Where the disk or a limit is full, the message names TMPDIR
 * and the option that helps. Other messages are not changed.
 */
void lode_recording_directory_explain(const LodeRecordingDirectory *self, GError **error);
