/* SPDX-License-Identifier: MIT */
/* Which part of a trace a verb reads: --from, --count, --warm-up, --function. */
#pragma once

#include "cli/verb.h"
#include "traces/trace_reader.h"

extern const GOptionEntry lode_trace_range_options[];

/* With --warm-up, for verbs that simulate caches. */
extern const GOptionEntry lode_trace_warm_range_options[];

/* With that, --every and --length: a sample. */
extern const GOptionEntry lode_trace_sample_options[];

bool lode_trace_range_is_given(void);

/* The name of --function; NULL: not given. */
const char *lode_trace_range_function(void);

/* Opens a trace for the part that is asked for. Errors: those of lode_trace_reader_open(),
 * _NOT_FOUND (the function). */
LodeTraceReader *lode_trace_range_open(
	const char *path, const LodeTraceReaderOptions *reading, GError **error);

/* All of the trace where nothing is given. Errors: _USAGE. */
bool lode_trace_range_read(LodeTraceRange *out_range, GError **error);
