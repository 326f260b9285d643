/* SPDX-License-Identifier: MIT */
/* Parameters that select a part of a trace: --from, --count, --function, --warm-up, --every. */
#pragma once

#include "base/parameter.h"
#include "traces/trace_range.h"
#include "traces/trace_reader.h"

typedef struct {
	LodeTraceRange range;
	const char *function; /* only inside this function; NULL: everywhere */
	bool has_first, has_warm_up;
	bool is_part; /* one of --from, --count and --warm-up is given */
} LodeTraceSelection;

/* Rows for a LodeTraceSelection. */
extern const LodeParameter lode_trace_selection_rows[];        /* --from, --count, --function */
extern const LodeParameter lode_trace_selection_warm_rows[];   /* also --warm-up */
extern const LodeParameter lode_trace_selection_sample_rows[]; /* also --every, --length */

/* Checks the values of the rows. Errors: _USAGE. */
bool lode_trace_selection_check(LodeTraceSelection *self, GError **error);

/* Opens a trace for the selected part. Errors: those of lode_trace_reader_open(), _NOT_FOUND (the
 * function). */
LodeTraceReader *lode_trace_selection_open(const LodeTraceSelection *self, const char *path,
	const LodeTraceReaderOptions *reading, GError **error);
