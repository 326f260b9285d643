/* SPDX-License-Identifier: MIT */
/* lode trace unpack: a packed address trace in the form of another tool. */
#include "base/files/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "process/champsim_instructions.h"
#include "questions/parts/trace_selection.h"
#include "sources/references/trace_conversion.h"
#include "views/form/display_text.h"

#include <string.h>

enum { MAX_THREADS = 1024 };

typedef struct {
	LodeTraceSelection part;
	LodeTraceReaderOptions reading;
	const char *output;
	LodeReferenceForm form;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.summary = "the file to write (default: standard output)"},
	{"form", LODE_WORD(Options, form), .value = LODE_REFERENCE_FORM_WORDS,
		.summary = "the form to write (default: lackey)"},
	{"threads", LODE_COUNT(Options, reading.threads), .most = MAX_THREADS, .value = "N",
		.summary = "the number of threads (default: all processors)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part of the trace", lode_trace_selection_rows, offsetof(Options, part)},
	{NULL},
};

/* The part before the damage is kept, and the file gets its name. */
static bool unpack(
	LodeTraceReader *reader, const Options *given, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given->output, error);
	g_autoptr(GError) damage = NULL;

	if (output == NULL)
		return false;
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(given->form, lode_output_file_stream(output));
	g_autoptr(LodeChampsimInstructions) instructions = lode_champsim_instructions_new(
		lode_trace_reader_description(reader), lode_trace_reader_range(reader).first);
	if (given->form == LODE_REFERENCE_FORM_CHAMPSIM)
		lode_reference_writer_set_instructions(
			writer, lode_champsim_instructions_find, instructions);
	if (!lode_trace_conversion_unpack(reader, writer, progress, &damage, error) ||
		!lode_output_file_commit(output, error))
		return false;
	g_autofree char *losses = lode_reference_writer_losses(writer);
	if (losses != NULL)
		lode_display_line(stderr, "lode trace unpack: %s: %s",
			lode_reference_form_to_text(given->form), losses);
	bool is_whole = damage == NULL;
	if (!is_whole)
		g_propagate_error(error, g_steal_pointer(&damage));
	return is_whole;
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;

	if (!lode_parameter_take_one(arguments, "packed trace", "x.rps", error) ||
		!lode_trace_selection_check(&given->part, error))
		return LODE_EXIT_USAGE;
	given->reading.range = &given->part.range;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeTraceReader) reader = lode_trace_selection_open(
		&given->part, arguments[0], &given->reading, error);
	bool is_whole = reader != NULL && unpack(reader, given, &screen.progress, error);
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
		"If a trace is damaged, the part before the damage is written, and the exit "
		"status is 1.\n"
		"\n"
		"Examples:\n"
		"  lode trace unpack x.rps | less\n"
		"  lode trace unpack x.rps --from 1000000 --count 500\n"
		"  lode trace unpack x.rps --form din | dineroIV -informat d -l1-dsize 32K …",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
