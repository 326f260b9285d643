/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode memory record`. */
#pragma once

#include "record/memory_recording.h"

#include <glib.h>

/* For LodeVerb.options. */
extern const GOptionEntry lode_memory_recording_options[];

/* What the options say; strings are borrowed from them and NULL where nothing was given. */
typedef struct {
	LodeMemoryRecordingOptions recording; /* but for directory and sampler */
	const char *output, *keep_recording;
	const char *const *skipped_frames; /* NULL-terminated; NULL */
	bool allow_debuginfod, charges_next_access;
	bool is_live, serves; /* at most one of them */
} LodeMemoryRecordOptions;

/* To be called once they are parsed; `arguments` is what is to be run. Errors: _USAGE, also for
 * options that do not go together. */
bool lode_memory_recording_options_read(
	char **arguments, LodeMemoryRecordOptions *out_options, GError **error);
