/* SPDX-License-Identifier: MIT */
/* The contents of a packed address trace, and whether it is complete. */
#include "views/traces/trace_info.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "questions/parts/rows.h"
#include "questions/parts/trace_selection.h"
#include "questions/questions.h"
#include "views/form/display_text.h"

#include <stdio.h>

typedef struct {
	LodeTraceSelection part;
	LodeTraceInfoOptions view;
	bool is_quick, is_verdict;
} Options;

static const LodeParameter rows[] = {
	LODE_FORMAT_ROW(Options, view.format),
	{"quick", LODE_FLAG(Options, is_quick), .excludes = "verify from count function",
		.summary = "show only what is known without decoding all references"},
	{"verify", LODE_FLAG(Options, is_verdict), .excludes = "from count function",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "decode everything, and report only whether the trace is whole"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part of the trace", lode_trace_selection_rows, offsetof(Options, part)},
	{NULL},
};

static void write_verdict(const LodeTraceSummary *summary, const char *path, FILE *out)
{
	lode_display_line(out, "%s: %s: %s references in %s frame%s", path,
		summary->damage != NULL ? "damaged" : "whole", LODE_COUNT_TEXT(summary->n_decoded),
		LODE_COUNT_TEXT(summary->n_frames), summary->n_frames == 1 ? "" : "s");
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	const LodeTraceReaderOptions reading = {.range = &self->part.range};

	if (!lode_trace_selection_check(&self->part, error))
		return false;
	g_autoptr(LodeTraceReader)
		reader = lode_trace_selection_open(&self->part, asking->paths[0], &reading, error);
	g_autoptr(LodeTraceSummary)
		summary = reader != NULL ? lode_trace_summary_new(reader, asking->paths[0],
						   !self->is_quick, asking->progress, error)
	                                 : NULL;
	FILE *out = summary != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	if (out == NULL)
		return false;
	self->view.terminal = asking->terminal;
	self->view.path = asking->names[0];
	if (self->is_verdict)
		write_verdict(summary, asking->names[0], out);
	else if (!lode_trace_info_write(
			 summary, lode_trace_reader_description(reader), &self->view, out, error))
		return false;
	if (!lode_asking_end(asking, error))
		return false;
	/* For the page, the answer reports the damage. */
	if (summary->damage == NULL || asking->is_page)
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT, summary->damage);
	return false;
}

const LodeVerb lode_question_trace_info = {
	.name = "trace info",
	.arguments = "TRACE.rps",
	.summary = "show the contents of a packed address trace",
	.description =
		"Shows references by kind, blocks and their invocations, the classes of the "
		"slots of loads and stores, the sizes of the streams, threads, mappings, and "
		"whether the trace is whole. Everything is decoded and checked, except with "
		"--quick.\n"
		"\n"
		"If a trace is damaged, the undamaged part is shown, and the exit status is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace info x.rps\n"
		"  lode trace info x.rps --quick --format json\n"
		"  lode trace info x.rps --verify",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
	.takes_trace = true,
};
