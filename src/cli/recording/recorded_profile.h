/* SPDX-License-Identifier: MIT */
/*
 * Private to cli/: the steps of the verbs that record a program and make a profile of it.
 *
 *   open ─▶ the verb records into `directory` ─▶ import ─▶ `path`, and the verb goes on with it
 */
#pragma once

#include "cli/recording/recording_directory.h"
#include "ingest/import.h"
#include "record/recorded_run.h"

#include <sys/types.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	const char *verb; /* "memory record" */
	char *path;       /* of the profile */
	char *program;    /* its command line, as a user would type it */
	bool is_attached; /* to a running process */
	LodeRecordingDirectory *directory;
} LodeRecordedProfile;

typedef struct {
	const char *verb;
	char **command;             /* the program and its arguments, NULL-terminated */
	pid_t pid;                  /* the process to attach to instead; 0: none */
	const char *output;         /* NULL: PROGRAM.lode, of a script SCRIPT.lode */
	const char *keep_recording; /* NULL: the recordings are temporary */
} LodeRecordedProfileOptions;

/* Checks that the profile can be written, before the program runs, and makes the directory to
 * record into. The caller clears it. */
bool lode_recorded_profile_open(
	LodeRecordedProfile *self, const LodeRecordedProfileOptions *options, GError **error);
void lode_recorded_profile_clear(LodeRecordedProfile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeRecordedProfile, lode_recorded_profile_clear)

/*
 * Whether anything was recorded. Otherwise prints why not, or sets an error with `advice` ("--exact
 * counts its executions"); *out_status is the verb's exit status: the signal that stopped lode, or
 * that ended the program before anything was recorded, or the status of a program that the kernel
 * does not let us sample. An attached process gets different advice.
 */
bool lode_recorded_profile_can_import(const LodeRecordedProfile *self, const LodeRecordedRun *run,
	bool is_empty, const char *advice, int *out_status, GError **error);

/* Imports the recordings, with the options in `import`; the caller owns the profile. */
LodeProfile *lode_recorded_profile_import(const LodeRecordedProfile *self,
	const LodeRecordedRun *run, const LodeImportOptions *import, const LodeProgress *progress,
	GError **error);

/* A thread that writes a profile while the caller reads it. */
typedef struct LodeProfileWriting LodeProfileWriting;

/* Begins to write to self->path; both are borrowed until the end. Cancellation does not stop it:
 * the profile is written even if the caller's own work is cancelled. */
LodeProfileWriting *lode_profile_writing_begin(
	const LodeRecordedProfile *self, LodeProfile *profile);

/* Waits until it is written; `error` may be NULL. */
bool lode_profile_writing_end(LodeProfileWriting *self, GError **error);
