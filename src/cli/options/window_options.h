/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options that ask a program what its samples leave open: by breakpoints from
 * outside (record/probes/probe_recorder.h), by windows in it (record/windows/window_recorder.h). */
#pragma once

#include "base/parameter.h"
#include "record/probes/probe_recorder.h"
#include "record/windows/window_recorder.h"

#include <sys/types.h>

/* The value where --probes is not given. */
#define LODE_PROBES_OF_RUN "1%"
#define LODE_PROBES_OF_RECORD "off"

/* clang-format off */
/* Rows for a struct's texts. */
#define LODE_WINDOWS_ROW(type, field) \
	{"windows", LODE_TEXT(type, field), .value = "SHARE|off|paths", \
		.summary = "now and then, execute some hundred instructions one by one, by a " \
			"library that is loaded into the program, and record their path and their " \
			"registers, for this share of the processor time, such as 3%; paths: 3% " \
			"without registers (default: off)"}
#define LODE_PROBES_ROW(type, field, standard_text) \
	{"probes", LODE_TEXT(type, field), .value = "SHARE|off", \
		.summary = "ask the running program by breakpoints, from outside, which ways its " \
			"branches go, where its accesses go and how long its loops take, for this " \
			"share of the processor time, such as 1% (default: " standard_text ")"}
/* clang-format on */

/* Reads it; `text` NULL: off. `pid`: a process that is attached to. Errors: _USAGE. */
bool lode_window_options_read(
	const char *text, pid_t pid, LodeWindowOptions *out_options, GError **error);

/* Reads it; `text` NULL: `standard`. Errors: _USAGE. */
bool lode_probe_options_read(
	const char *text, const char *standard, LodeProbeOptions *out_options, GError **error);
