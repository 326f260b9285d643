/* SPDX-License-Identifier: MIT */
/* lode trace record: runs a program and writes the trace of its references. */
#include "cli/interrupt.h"
#include "cli/recording/wrapped_program.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "record/qemu/trace_recording.h"
#include "views/form/display_text.h"
#include "views/traces/trace_recording_summary.h"

#include <stdio.h>

enum { MAX_THREADS = 1024 };

typedef struct {
	LodeTraceRecordingOptions recording;
	bool has_way;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, recording.output, PACKED_TRACE), .value = "FILE",
		.summary =
			"the trace to write; an existing one is replaced (default: PROGRAM.rps)"},
	{"level", LODE_WORD(Options, recording.writer.level), .value = "fast|default|small",
		.standard = "default", .summary = "compression level (default: default)"},
	{"instructions", 'n', LODE_COUNT(Options, recording.limit), .least = 1, .most = G_MAXINT64,
		.value = "N",
		.summary = "record N instructions of each process, of all its threads together; "
			   "then it continues untraced"},
	{"skip", LODE_COUNT(Options, recording.skip), .most = G_MAXINT64, .value = "N",
		.summary = "leave out the first N instructions of each process, of all its threads "
			   "together"},
	{"function", LODE_TEXT(Options, recording.function), .value = "NAME",
		.summary = "record only while this function runs, including functions that it "
			   "calls"},
	{"no-follow", LODE_FLAG(Options, recording.is_alone),
		.summary =
			"trace the program alone, not the programs and processes that it starts"},
	{"only", LODE_TEXTS(Options, recording.only), .value = "GLOB", .excludes = "no-follow",
		.summary = "trace only programs with such a name, such as 'cc1*' (with a slash: "
			   "such a path); others run, and what they start is followed"},
	{"allocations", LODE_FLAG(Options, recording.has_allocations),
		.summary = "record what the program allocates, and where, into FILE.allocations, "
			   "by a library that it is run with (qemu only)"},
	{"with", LODE_WORD(Options, recording.way), .value = "qemu|lackey",
		.given = offsetof(Options, has_way),
		.summary = "the tool that runs the program: qemu or lackey (default: qemu, or "
			   "lackey where qemu cannot be used)"},
	{"threads", LODE_COUNT(Options, recording.writer.threads), .most = MAX_THREADS,
		.value = "N",
		.summary = "the number of threads that compress (default: all processors)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static void print_note(const char *text, LodeAdvice advice, void *user_data)
{
	LodeTerminalProgress *screen = user_data;

	(void)advice;
	lode_terminal_progress_hide(screen);
	lode_display_line(stderr, "lode trace record: %s", text);
}

static bool check(Options *self, GError **error)
{
	LodeTraceRecordingOptions *recording = &self->recording;

	if (!self->has_way)
		recording->way = -1;
	if (recording->way != LODE_TRACE_WAY_LACKEY)
		return true;
	if (recording->function != NULL)
		return lode_parameter_refuse(
			error, "--function: only qemu can trace a function alone");
	if (recording->only != NULL)
		return lode_parameter_refuse(error, "--only: lackey traces the program alone");
	if (recording->has_allocations)
		return lode_parameter_refuse(
			error, "--allocations: only qemu can record them with a trace");
	return true;
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;
	LodeTraceRecordingOptions *recording = &given->recording;
	g_auto(LodeTerminalProgress) screen;
	g_autofree char *usual = NULL;

	lode_terminal_progress_init(&screen);
	if (arguments[0] == NULL) {
		lode_parameter_refuse(
			error, "PROGRAM is missing: lode trace record -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	if (!check(given, error))
		return LODE_EXIT_USAGE;
	if (recording->output == NULL) {
		g_autofree char *name = g_path_get_basename(arguments[0]);
		recording->output = usual = g_strconcat(name, ".rps", NULL);
	}
	recording->argv = (const char *const *)arguments;
	recording->notes = (LodeNotes){.take = print_note, .user_data = &screen};
	g_autoptr(LodeTraceRecording)
		recorded = lode_trace_recording_run(recording, &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	if (recorded == NULL)
		return LODE_EXIT_FAILED;
	lode_trace_recording_summary_write(recorded, "trace record", recording->output, stderr);
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
		"they were allocated. The trace contains the instructions of the library, too.\n"
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
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
	.is_wrapper = true,
};
