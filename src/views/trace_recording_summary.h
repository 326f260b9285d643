/* SPDX-License-Identifier: MIT */
/* What was recorded of a program's references, in a few lines for the one who recorded it. */
#pragma once

#include "record/trace_recording.h"

#include <stdio.h>

/* Each line begins with "lode VERB: "; `path` is the trace of the program itself. */
void lode_trace_recording_summary_write(
	const LodeTraceRecording *recorded, const char *verb, const char *path, FILE *out);
