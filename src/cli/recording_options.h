/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode run` that say what is recorded, how, and where it goes. */
#pragma once

#include "caches/hierarchy.h"
#include "record/program_recording.h"

/* For LodeVerb.options. */
extern const GOptionEntry lode_recording_options[];

/* What the options say; strings are borrowed from them and NULL where nothing was given. */
typedef struct {
	LodeProgramRecordingOptions recording; /* but for argv, directory and is_refused */
	const char *simulate;                  /* caches, of a trace or of counting */
	const char *output, *keep_recording, *report;
	bool allow_debuginfod;
} LodeRecordingOptions;

/* To be called once they are parsed; `arguments` is what is to be run. Errors: _USAGE, also for
 * options that do not go together. */
bool lode_recording_options_read(
	char **arguments, LodeRecordingOptions *out_options, GError **error);

/* The caches that a trace is replayed through, or that counting simulates: NULL where there are
 * none. Says so on standard error where they are not this machine's. The caller owns them. */
bool lode_recording_options_read_caches(
	const LodeRecordingOptions *options, LodeHierarchy **out_caches, GError **error);
