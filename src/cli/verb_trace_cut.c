/* SPDX-License-Identifier: MIT */
/* lode trace cut: a part of a packed trace as a trace of its own. */
#include "base/number_format.h"
#include "base/output_file.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "sources/trace_conversion.h"
#include "views/display_text.h"

#include <stdio.h>

enum { MAX_THREADS = 1024 };

static struct {
	char *output, *level, *threads;
} given;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the packed trace to write; an existing one is replaced", "FILE"},
	{"level", 0, 0, G_OPTION_ARG_STRING, &given.level, "compression level (default: default)",
		"fast|default|small"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads (default: all processors)", "N"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Part of the trace", lode_trace_range_options},
	{NULL, NULL},
};

static bool read_options(const char *path, LodeTraceReaderOptions *reading,
	LodeTraceWriterOptions *writing, LodeTraceRange *range, GError **error)
{
	int level = given.level != NULL ? lode_trace_level_from_text(given.level)
	                                : LODE_TRACE_LEVEL_DEFAULT;
	uint64_t threads = 0;

	if (given.output == NULL)
		return lode_option_refuse(
			error, "-o is missing: the trace to write, such as -o y.rps");
	if (level < 0)
		return lode_option_refuse(
			error, "--level: '%s' is not " LODE_TRACE_LEVEL_WORDS, given.level);
	if (!lode_output_file_spares(given.output, path, error) ||
		!lode_trace_range_read(range, error) ||
		!lode_option_count("--threads", given.threads, MAX_THREADS, &threads, error))
		return false;
	*reading = (LodeTraceReaderOptions){.threads = (unsigned)threads, .range = range};
	*writing = (LodeTraceWriterOptions){
		.threads = (unsigned)threads, .level = (LodeTraceLevel)level};
	return true;
}

static bool cut(LodeTraceReader *reader, LodeTraceWriter *writer, GError **error)
{
	char references[LODE_NUMBER_SIZE], bytes[LODE_NUMBER_SIZE];
	g_autoptr(GError) damage = NULL;
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	if (!lode_trace_conversion_cut(reader, writer, &screen.progress, &damage, error))
		return false;
	lode_terminal_progress_hide(&screen);
	lode_display_line(stdout, "%s: %s references in %s bytes", given.output,
		lode_number_format_count((double)lode_trace_writer_references(writer), references),
		lode_number_format_count((double)lode_trace_writer_bytes(writer), bytes));
	bool is_whole = damage == NULL;
	if (!is_whole)
		g_propagate_error(error, g_steal_pointer(&damage));
	return is_whole;
}

static int run(char **arguments, GError **error)
{
	LodeTraceReaderOptions reading;
	LodeTraceWriterOptions writing;
	LodeTraceRange range;

	if (!lode_options_take_one(arguments, "TRACE.rps", error) ||
		!read_options(arguments[0], &reading, &writing, &range, error))
		return LODE_EXIT_USAGE;
	g_autoptr(LodeTraceReader) reader = lode_trace_range_open(arguments[0], &reading, error);
	if (reader == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceWriter) writer = lode_trace_writer_open(given.output, &writing, error);
	return writer != NULL && cut(reader, writer, error) ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_cut = {
	.name = "trace cut",
	.arguments = "TRACE.rps",
	.summary = "make a trace of a part of a packed address trace",
	.description =
		"The new trace has the references of the part in their order, numbered from 0, "
		"and the program, mappings and threads of the whole trace.\n"
		"\n"
		"Of a damaged trace the part before the damage is written, and the exit status "
		"is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace cut x.rps --from 1000000 --count 500000 -o y.rps",
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
};
