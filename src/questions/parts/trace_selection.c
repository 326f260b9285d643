/* SPDX-License-Identifier: MIT */
#include "questions/parts/trace_selection.h"

#include "ingest/traced/traced_functions.h"

/* clang-format off */
#define RANGE_ROWS \
	{"from", LODE_COUNT(LodeTraceSelection, range.first), \
		.given = offsetof(LodeTraceSelection, has_first), .value = "N", \
		.summary = "begin with reference N of the trace, counted from 0 (default: 0)"}, \
	{"count", LODE_COUNT(LodeTraceSelection, range.count), .value = "N", \
		.standard = "18446744073709551615" /* UINT64_MAX */, \
		.summary = "read at most N references (default: all)"}, \
	{"function", LODE_TEXT(LodeTraceSelection, function), .value = "NAME", \
		.summary = "only while this function runs, including functions that it calls"}
#define WARM_ROWS(NEEDS) \
	RANGE_ROWS, \
	{"warm-up", LODE_COUNT(LodeTraceSelection, range.warm_up), .value = "N", \
		.given = offsetof(LodeTraceSelection, has_warm_up), .needs = NEEDS, \
		.summary = "let N references before what is counted go through the caches without " \
			"being counted (default: 0; the caches are empty at first)"}
/* clang-format on */

const LodeParameter lode_trace_selection_rows[] = {RANGE_ROWS, {NULL}};

const LodeParameter lode_trace_selection_warm_rows[] = {WARM_ROWS("from"), {NULL}};

const LodeParameter lode_trace_selection_sample_rows[] = {
	WARM_ROWS("from every"),
	{"every", LODE_COUNT(LodeTraceSelection, range.every), .least = 1, .value = "N",
		.needs = "length",
		.excludes = "function curve line plot-curve plot-reuse by branches sharing "
			    "plot-objects",
		.summary = "with --length: simulate a sample, a window in every N references"},
	{"length", LODE_COUNT(LodeTraceSelection, range.length), .least = 1, .value = "N",
		.needs = "every", .summary = "references of a window of the sample"},
	{NULL},
};

bool lode_trace_selection_check(LodeTraceSelection *self, GError **error)
{
	const LodeTraceRange *range = &self->range;

	self->is_part = self->has_first || self->has_warm_up || range->count != UINT64_MAX;
	if (range->every == 0)
		return true;
	if (range->length > range->every)
		return lode_parameter_refuse(
			error, "--length is more than --every: windows would overlap");
	return true;
}

LodeTraceReader *lode_trace_selection_open(const LodeTraceSelection *self, const char *path,
	const LodeTraceReaderOptions *reading, GError **error)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, reading, error);

	if (reader != NULL && self->function != NULL &&
		!lode_traced_functions_choose(reader, self->function, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&reader);
}
