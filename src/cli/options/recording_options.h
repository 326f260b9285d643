/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode run` for recording: events, method and output. */
#pragma once

#include "base/parameter.h"
#include "caches/hierarchy/hierarchy.h"
#include "record/program_recording.h"

/* Strings are NULL where nothing was given. */
typedef struct {
	LodeProgramRecordingOptions recording; /* all but directory and is_refused */
	bool is_counted, is_exact, is_once, is_trace;
	bool has_branches;    /* recording.branches was given */
	const char *simulate; /* caches, of a trace or of counting */
	const char *call_graph, *windows, *probes;
	const char *output, *keep_recording, *report;
	bool allow_debuginfod;
} LodeRecordingOptions;

extern const LodeParameter lode_recording_rows[];

/* clang-format off */
/* A row for a struct's bool, beside one for --pid. */
#define LODE_SIBLINGS_ROW(type, field) \
	{"siblings", LODE_FLAG(type, field), .needs = "pid", \
		.summary = "with --pid: also processes of its name with the same parent, as the " \
			   "workers of a web server and the backends of a database"}
/* clang-format on */

/* Derives the recording options from the rows' values; `arguments`: the command to run. Errors:
 * _USAGE. */
bool lode_recording_options_complete(LodeRecordingOptions *self, char **arguments, GError **error);

/* Sets recording.caches, the caches that a trace is replayed through or that counting simulates, if
 * any are given. Notes on standard error when they are not this machine's. The caller owns them. */
bool lode_recording_options_read_caches(
	LodeRecordingOptions *self, LodeHierarchy **out_caches, GError **error);
