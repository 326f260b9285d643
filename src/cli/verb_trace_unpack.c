/* SPDX-License-Identifier: MIT */
/* lode trace unpack: a packed address trace in the form of another tool. */
#include "base/output_file.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "process/champsim_instructions.h"
#include "sources/trace_conversion.h"
#include "views/display_text.h"

#include <string.h>

enum { MAX_THREADS = 1024 };

static struct {
	char *output, *form, *threads;
} given;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the file to write (default: standard output)", "FILE"},
	{"form", 0, 0, G_OPTION_ARG_STRING, &given.form, "the form to write (default: lackey)",
		LODE_REFERENCE_FORM_WORDS},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads (default: all processors)", "N"},
	G_OPTION_ENTRY_NULL,
};

static const LodeOptionGroup groups[] = {
	{"Part of the trace", lode_trace_range_options},
	{NULL, NULL},
};

static bool read_options(LodeTraceReaderOptions *reading, LodeTraceRange *range,
	LodeReferenceForm *out_form, GError **error)
{
	int form = given.form != NULL ? lode_reference_form_from_text(given.form)
	                              : LODE_REFERENCE_FORM_LACKEY;
	uint64_t threads = 0;

	if (form < 0)
		return lode_option_refuse(
			error, "--form: '%s' is not " LODE_REFERENCE_FORM_WORDS, given.form);
	*out_form = (LodeReferenceForm)form;
	if (!lode_trace_range_read(range, error) ||
		!lode_option_count("--threads", given.threads, MAX_THREADS, &threads, error))
		return false;
	reading->threads = (unsigned)threads;
	reading->range = range;
	return true;
}

/* What was in front of damage is kept, under its name too. */
static bool unpack(LodeTraceReader *reader, LodeReferenceForm form, const LodeProgress *progress,
	GError **error)
{
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given.output, error);
	g_autoptr(GError) damage = NULL;

	if (output == NULL)
		return false;
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(form, lode_output_file_stream(output));
	g_autoptr(LodeChampsimInstructions) instructions = lode_champsim_instructions_new(
		lode_trace_reader_description(reader), lode_trace_reader_range(reader).first);
	if (form == LODE_REFERENCE_FORM_CHAMPSIM)
		lode_reference_writer_set_instructions(
			writer, lode_champsim_instructions_find, instructions);
	if (!lode_trace_conversion_unpack(reader, writer, progress, &damage, error) ||
		!lode_output_file_commit(output, error))
		return false;
	g_autofree char *losses = lode_reference_writer_losses(writer);
	if (losses != NULL)
		lode_display_line(stderr, "lode trace unpack: %s: %s",
			lode_reference_form_to_text(form), losses);
	bool is_whole = damage == NULL;
	if (!is_whole)
		g_propagate_error(error, g_steal_pointer(&damage));
	return is_whole;
}

static int run(char **arguments, GError **error)
{
	LodeTraceReaderOptions reading = {0};
	LodeTraceRange range;
	LodeReferenceForm form = LODE_REFERENCE_FORM_LACKEY;

	if (!lode_options_take_one(arguments, "TRACE.rps", error) ||
		!read_options(&reading, &range, &form, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeTraceReader) reader = lode_trace_range_open(arguments[0], &reading, error);
	bool is_whole = reader != NULL && unpack(reader, form, &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	return is_whole ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_unpack = {
	.name = "trace unpack",
	.arguments = "TRACE.rps",
	.summary = "write a packed address trace in the form of another tool",
	.description =
		"The forms are those that 'lode trace pack' reads. lackey and csv can "
		"represent everything; for the other forms, lode reports what was left out. "
		"champsim has the branches and registers of code whose files the trace names.\n"
		"\n"
		"Of a damaged trace the part before the damage is written, and the exit status "
		"is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace unpack x.rps | less\n"
		"  lode trace unpack x.rps --from 1000000 --count 500\n"
		"  lode trace unpack x.rps --form din | dineroIV -informat d -l1-dsize 32K …",
	.old_options = options,
	.old_run = run,
	.old_groups = groups,
};
