/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode memory record`. */
#pragma once

#include "base/parameter.h"
#include "record/memory_recording.h"

/* Strings are NULL where nothing was given. */
typedef struct {
	LodeMemoryRecordingOptions recording; /* all but directory and sampler */
	uint64_t timer_us;                    /* 0: none */
	const char *call_graph, *windows, *probes;
	const char *output, *keep_recording;
	const char *const *skipped_frames;
	bool allow_debuginfod, charges_next_access;
	bool is_live, serves; /* at most one of them */
} LodeMemoryRecordOptions;

extern const LodeParameter lode_memory_recording_rows[];

/* Derives the recording options from the rows' values; `arguments`: the command to run. Errors:
 * _USAGE. */
bool lode_memory_recording_options_complete(
	LodeMemoryRecordOptions *self, char **arguments, GError **error);
