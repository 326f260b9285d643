/* SPDX-License-Identifier: MIT */
/* The contents of a packed address trace, and whether it is whole. */
#pragma once

#include "traces/trace_summary.h"
#include "views/form/format.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *path; /* of the trace */
} LodeTraceInfoOptions;

/*
 * Writes to `out`. CSV has the columns section,name,value,share,bits_per_reference,detail. Errors:
 * _IO.
 */
bool lode_trace_info_write(const LodeTraceSummary *summary, const LodeTraceDescription *description,
	const LodeTraceInfoOptions *options, FILE *out, GError **error);
