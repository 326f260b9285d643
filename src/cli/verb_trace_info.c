/* SPDX-License-Identifier: MIT */
/* lode trace info: what is in a packed address trace, and whether it is whole. */
#include "base/error.h"
#include "base/number_format.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "views/display_text.h"
#include "views/trace_info.h"

#include <stdio.h>

static struct {
	char *format;
	gboolean is_quick, is_verdict;
} given;

static const GOptionEntry options[] = {
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{"quick", 0, 0, G_OPTION_ARG_NONE, &given.is_quick,
		"show only what is known without decoding all references", NULL},
	{"verify", 0, 0, G_OPTION_ARG_NONE, &given.is_verdict,
		"decode everything, and report only whether the trace is whole", NULL},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Part of the trace", lode_trace_range_options},
	{NULL, NULL},
};

static bool read_options(LodeTraceInfoOptions *info, LodeTraceRange *range, GError **error)
{
	if (!lode_option_format(given.format, &info->format, error))
		return false;
	if (given.is_quick && given.is_verdict)
		return lode_option_refuse(error, "--quick and --verify exclude each other");
	if ((lode_trace_range_is_given() || lode_trace_range_function() != NULL) &&
		(given.is_quick || given.is_verdict))
		return lode_option_refuse(error,
			"--from, --count and --function need the references of that part decoded: "
			"without "
			"--quick and --verify");
	return lode_trace_range_read(range, error);
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

static LodeTraceSummary *summarise(LodeTraceReader *reader, const char *path, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	return lode_trace_summary_new(reader, path, !given.is_quick, &screen.progress, error);
}

static int run(char **arguments, GError **error)
{
	LodeTraceInfoOptions info = {.terminal = lode_terminal_of(stdout)};

	LodeTraceRange range;

	if (!lode_options_take_one(arguments, "TRACE.rps", error) ||
		!read_options(&info, &range, error))
		return LODE_EXIT_USAGE;
	info.path = arguments[0];
	const LodeTraceReaderOptions reading = {.range = &range};
	g_autoptr(LodeTraceReader) reader = lode_trace_range_open(arguments[0], &reading, error);
	if (reader == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceSummary) summary = summarise(reader, arguments[0], error);
	if (summary == NULL)
		return LODE_EXIT_FAILED;
	if (given.is_verdict)
		write_verdict(summary, arguments[0]);
	else if (!lode_trace_info_write(
			 summary, lode_trace_reader_description(reader), &info, stdout, error))
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
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
};
