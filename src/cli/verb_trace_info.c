/* SPDX-License-Identifier: MIT */
/* lode trace info: what is in a packed address trace, and whether it is whole. */
#include "base/error.h"
#include "base/number_format.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "questions/trace_selection.h"
#include "views/display_text.h"
#include "views/trace_info.h"

#include <stdio.h>

typedef struct {
	LodeTraceSelection part;
	LodeTraceInfoOptions view;
	bool is_quick, is_verdict;
} Options;

static const LodeParameter rows[] = {
	{"format", LODE_WORD(Options, view.format), .value = "text|json|csv",
		.summary = "output format (default: text)"},
	{"quick", LODE_FLAG(Options, is_quick), .excludes = "verify from count function",
		.summary = "show only what is known without decoding all references"},
	{"verify", LODE_FLAG(Options, is_verdict), .excludes = "from count function",
		.summary = "decode everything, and report only whether the trace is whole"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part of the trace", lode_trace_selection_rows, offsetof(Options, part)},
	{NULL},
};

static void init(void *options)
{
	lode_trace_selection_init(&((Options *)options)->part);
}

static void write_verdict(const LodeTraceSummary *summary, const char *path)
{
	char references[LODE_NUMBER_SIZE], frames[LODE_NUMBER_SIZE];

	lode_display_line(stdout, "%s: %s: %s references in %s frame%s", path,
		summary->damage != NULL ? "damaged" : "whole",
		lode_number_format_count((double)summary->n_decoded, references),
		lode_number_format_count((double)summary->n_frames, frames),
		summary->n_frames == 1 ? "" : "s");
}

static LodeTraceSummary *summarise(
	LodeTraceReader *reader, const char *path, bool is_quick, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	return lode_trace_summary_new(reader, path, !is_quick, &screen.progress, error);
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;

	if (!lode_parameter_take_one(arguments, "TRACE.rps", error) ||
		!lode_trace_selection_check(&given->part, error))
		return LODE_EXIT_USAGE;
	given->view.terminal = lode_terminal_of(stdout);
	given->view.path = arguments[0];
	const LodeTraceReaderOptions reading = {.range = &given->part.range};
	g_autoptr(LodeTraceReader)
		reader = lode_trace_selection_open(&given->part, arguments[0], &reading, error);
	if (reader == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceSummary)
		summary = summarise(reader, arguments[0], given->is_quick, error);
	if (summary == NULL)
		return LODE_EXIT_FAILED;
	if (given->is_verdict)
		write_verdict(summary, arguments[0]);
	else if (!lode_trace_info_write(summary, lode_trace_reader_description(reader),
			 &given->view, stdout, error))
		return LODE_EXIT_FAILED;
	if (summary->damage == NULL)
		return LODE_EXIT_OK;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT, summary->damage);
	return LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_info = {
	.name = "trace info",
	.arguments = "TRACE.rps",
	.summary = "show the contents of a packed address trace",
	.description =
		"Shows references by kind, blocks and their invocations, the classes of the "
		"slots of loads and stores, the sizes of the streams, threads, mappings, and "
		"whether the trace is whole. Everything is decoded and checked, except with "
		"--quick.\n"
		"\n"
		"Of a damaged trace the undamaged part is shown, and the exit status is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace info x.rps\n"
		"  lode trace info x.rps --quick --format json\n"
		"  lode trace info x.rps --verify",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.run = run,
};
