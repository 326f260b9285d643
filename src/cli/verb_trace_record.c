/* SPDX-License-Identifier: MIT */
/* lode trace record: runs a program and writes the trace of its references. */
#include "cli/interrupt.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/wrapped_program.h"
#include "record/trace_recording.h"
#include "views/display_text.h"
#include "views/trace_recording_summary.h"

#include <stdio.h>

enum { MAX_THREADS = 1024 };

static struct {
	char *output, *level, *instructions, *skip, *function, *way, *threads;
	char **only;
	gboolean is_alone, has_allocations;
} given;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the trace to write; an existing one is replaced (default: PROGRAM.rps)", "FILE"},
	{"level", 0, 0, G_OPTION_ARG_STRING, &given.level,
		"compression level: " LODE_TRACE_LEVEL_WORDS, "LEVEL"},
	{"instructions", 'n', 0, G_OPTION_ARG_STRING, &given.instructions,
		"record N instructions of each process, of all its threads together; then it "
		"continues untraced",
		"N"},
	{"skip", 0, 0, G_OPTION_ARG_STRING, &given.skip,
		"leave out the first N instructions of each process, of all its threads together",
		"N"},
	{"function", 0, 0, G_OPTION_ARG_STRING, &given.function,
		"record only while this function runs, including functions that it calls", "NAME"},
	{"no-follow", 0, 0, G_OPTION_ARG_NONE, &given.is_alone,
		"trace the program alone, not the programs and processes that it starts", NULL},
	{"only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.only,
		"trace only programs with such a name, such as 'cc1*' (with a slash: such a path); "
		"others run, and what they start is followed",
		"GLOB"},
	{"allocations", 0, 0, G_OPTION_ARG_NONE, &given.has_allocations,
		"record what the program allocates, and where, into FILE.allocations, by a library "
		"that it is run with (qemu only)",
		NULL},
	{"with", 0, 0, G_OPTION_ARG_STRING, &given.way,
		"the tool that runs the program: qemu or lackey (default: qemu, or lackey "
		"where qemu cannot be used)",
		"TOOL"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads that compress (default: all processors)", "N"},
	G_OPTION_ENTRY_NULL,
};

static void tell(const char *text, LodeAdvice advice, void *user_data)
{
	LodeTerminalProgress *screen = user_data;

	(void)advice;
	lode_terminal_progress_hide(screen);
	lode_display_line(stderr, "lode trace record: %s", text);
}

static bool read_level(LodeTraceLevel *out_level, GError **error)
{
	int level = given.level != NULL ? lode_trace_level_from_text(given.level)
	                                : LODE_TRACE_LEVEL_DEFAULT;

	if (level < 0)
		return lode_option_refuse(
			error, "--level: '%s' is not " LODE_TRACE_LEVEL_WORDS, given.level);
	*out_level = (LodeTraceLevel)level;
	return true;
}

static bool read_way(int *out_way, GError **error)
{
	*out_way = given.way != NULL ? lode_trace_way_from_text(given.way) : -1;
	if (given.way == NULL || *out_way >= 0)
		return true;
	return lode_option_refuse(error, "--with: '%s' is not qemu or lackey", given.way);
}

static bool read_options(LodeTraceRecordingOptions *self, GError **error)
{
	uint64_t threads = 0;

	if (!read_level(&self->writer.level, error) || !read_way(&self->way, error) ||
		!lode_option_count(
			"--instructions", given.instructions, G_MAXINT64, &self->limit, error) ||
		!lode_option_count("--skip", given.skip, G_MAXINT64, &self->skip, error) ||
		!lode_option_count("--threads", given.threads, MAX_THREADS, &threads, error))
		return false;
	if (given.instructions != NULL && self->limit == 0)
		return lode_option_refuse(error, "--instructions: 0 is too little");
	if (self->function != NULL && self->way == LODE_TRACE_WAY_LACKEY)
		return lode_option_refuse(
			error, "--function: only qemu can trace a function alone");
	if (self->function != NULL && *self->function == '\0')
		return lode_option_refuse(error, "--function: the name is empty");
	if (given.only != NULL && given.is_alone)
		return lode_option_refuse(error, "--only cannot be used with --no-follow");
	if (given.only != NULL && self->way == LODE_TRACE_WAY_LACKEY)
		return lode_option_refuse(error, "--only: lackey traces the program alone");
	if (given.has_allocations && self->way == LODE_TRACE_WAY_LACKEY)
		return lode_option_refuse(
			error, "--allocations: only qemu can record them with a trace");
	self->is_alone = given.is_alone;
	self->has_allocations = given.has_allocations;
	self->only = (const char *const *)given.only;
	self->writer.threads = (unsigned)threads;
	return true;
}

static int run(char **arguments, GError **error)
{
	g_auto(LodeTerminalProgress) screen;
	LodeTraceRecordingOptions recording = {
		.argv = (const char *const *)arguments,
		.function = given.function,
		.notes = {.take = tell, .user_data = &screen},
	};

	lode_terminal_progress_init(&screen);
	if (arguments[0] == NULL) {
		lode_option_refuse(
			error, "PROGRAM is missing: lode trace record -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	if (!read_options(&recording, error))
		return LODE_EXIT_USAGE;
	g_autofree char *name = g_path_get_basename(arguments[0]);
	g_autofree char *path = given.output != NULL ? g_strdup(given.output)
	                                             : g_strconcat(name, ".rps", NULL);
	recording.output = path;
	g_autoptr(LodeTraceRecording)
		recorded = lode_trace_recording_run(&recording, &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	if (recorded == NULL)
		return LODE_EXIT_FAILED;
	lode_trace_recording_summary_write(recorded, "trace record", path, stderr);
	return lode_wrapped_program_status(recorded->exit_status, recorded->stop_signal);
}

const LodeVerb lode_verb_trace_record = {
	.name = "trace record",
	.arguments = "-- PROGRAM [ARGUMENT…]",
	.summary = "record every access of a program to memory",
	.description =
		"The program runs unmodified, with all its threads, in qemu-x86_64 with lode's "
		"plugin, or under valgrind's lackey. Each executed instruction and its loads "
		"and stores are recorded in program order; the references of several threads "
		"are interleaved in pieces of at most some hundred references, as they ran. "
		"Processes that the program makes, and programs that they execute, are traced "
		"too, each to a file of its own: x.rps is the program's, x.2.rps, x.3.rps and "
		"so on are the others'; 'lode import x.rps x.*.rps' makes one profile of them. "
		"--only names the programs to trace.\n"
		"\n"
		"The program has the standard input, output and error of lode, and lode exits "
		"with its status; if a signal ends the program, lode ends by the same signal. "
		"However the program ends, the trace is whole, also after Ctrl-C.\n"
		"\n"
		"With --allocations each trace has a log beside it, by which 'lode trace "
		"simulate --by object' and 'lode import' name blocks of the heap after where "
		"they were allocated. What the library executes is in the trace, too.\n"
		"\n"
		"--skip and --instructions record a part of the run; --function records from "
		"each call of a function to its return.\n"
		"\n"
		"Examples:\n"
		"  lode trace record -o gzip.rps -- gzip -k file\n"
		"  lode trace record --level fast -n 100000000 -- ./program argument\n"
		"  lode trace record --only cc1 -o cc1.rps -- make\n"
		"  lode trace record --function compute -- ./program\n"
		"  lode trace record --with lackey -- ./program",
	.old_options = options,
	.old_run = run,
	.is_wrapper = true,
};
