/* SPDX-License-Identifier: MIT */
/* Private to cli/: the option that records windows (record/windows/window_recorder.h). */
#pragma once

#include "base/parameter.h"
#include "record/windows/window_recorder.h"

#include <sys/types.h>

/* The value where --windows is not given. */
#define LODE_WINDOWS_OF_RUN "1.5%"
#define LODE_WINDOWS_OF_RECORD "off"

/* clang-format off */
/* A row for a struct's text. */
#define LODE_WINDOWS_ROW(type, field, standard_text) \
	{"windows", LODE_TEXT(type, field), .value = "SHARE|off|paths", \
		.summary = "now and then, execute some hundred instructions one by one and record " \
			"their path and their registers, for this share of the processor time, such " \
			"as 3%; paths: 3% without registers (default: " standard_text ")"}
/* clang-format on */

/*
 * Reads it; `text` NULL: `standard`, which is marked as such, but not with `pid`, a process that is
 * attached to. Errors: _USAGE.
 */
bool lode_window_options_read(const char *text, const char *standard, pid_t pid,
	LodeWindowOptions *out_options, GError **error);
