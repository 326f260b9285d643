/* SPDX-License-Identifier: MIT */
/* lode trace cut: writes a part of a packed trace as a trace. */
#include "base/text/number_format.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "questions/parts/trace_selection.h"
#include "sources/references/trace_conversion.h"
#include "traces/trace_writer.h"
#include "views/form/display_text.h"

#include <stdio.h>

enum { MAX_THREADS = 1024 };

typedef struct {
	LodeTraceSelection part;
	LodeTraceWriterOptions writing;
	const char *output;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, output, PACKED_TRACE), .value = "FILE",
		.summary = "the packed trace to write; an existing one is replaced"},
	{"level", LODE_WORD(Options, writing.level), .value = "fast|default|small",
		.standard = "default", .summary = "compression level (default: default)"},
	{"threads", LODE_COUNT(Options, writing.threads), .most = MAX_THREADS, .value = "N",
		.summary = "the number of threads (default: all processors)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part of the trace", lode_trace_selection_rows, offsetof(Options, part)},
	{NULL},
};

static bool cut(LodeTraceReader *reader, LodeTraceStream *writer, const char *name, GError **error)
{
	g_autoptr(GError) damage = NULL;
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	if (!lode_trace_conversion_cut(reader, writer, &screen.progress, &damage, error))
		return false;
	lode_terminal_progress_hide(&screen);
	lode_display_line(stdout, "%s: %s references in %s bytes", name,
		LODE_COUNT_TEXT(lode_trace_stream_n_references(writer)),
		LODE_COUNT_TEXT(lode_trace_stream_n_bytes(writer)));
	bool is_whole = damage == NULL;
	if (!is_whole)
		g_propagate_error(error, g_steal_pointer(&damage));
	return is_whole;
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;

	if (!lode_parameter_take_one(arguments, "packed trace", "x.rps", error))
		return LODE_EXIT_USAGE;
	if (given->output == NULL) {
		lode_parameter_refuse(error, "-o is missing: the trace to write, such as -o y.rps");
		return LODE_EXIT_USAGE;
	}
	if (!lode_trace_selection_check(&given->part, error))
		return LODE_EXIT_USAGE;
	const LodeTraceReaderOptions reading = {given->writing.threads, &given->part.range};
	g_autoptr(LodeTraceReader)
		reader = lode_trace_selection_open(&given->part, arguments[0], &reading, error);
	if (reader == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(given->output, &given->writing, NULL, error);
	return writer != NULL && cut(reader, writer, given->output, error) ? LODE_EXIT_OK
	                                                                   : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_cut = {
	.name = "trace cut",
	.arguments = "TRACE.rps",
	.summary = "make a trace of a part of a packed address trace",
	.description =
		"The new trace has the references of the part in their order, numbered from 0, "
		"and the program, mappings and threads of the whole trace.\n"
		"\n"
		"If a trace is damaged, the part before the damage is written, and the exit "
		"status is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace cut x.rps --from 1000000 --count 500000 -o y.rps",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
