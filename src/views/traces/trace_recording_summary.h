/* SPDX-License-Identifier: MIT */
/* The summary of a trace that was recorded, in a few lines. */
#pragma once

#include "record/qemu/trace_recording.h"

#include <stdio.h>

/* Each line begins with "lode VERB: "; `path` is the trace of the program itself. */
void lode_trace_recording_summary_write(
	const LodeTraceRecording *recorded, const char *verb, const char *path, FILE *out);
