/* SPDX-License-Identifier: MIT */
/* lode trace simulate -- PROGRAM: the references of a program through caches, while it runs. */
#include "base/error.h"
#include "cli/recording_directory.h"
#include "cli/terminal_progress.h"
#include "cli/trace_range_options.h"
#include "cli/trace_simulate.h"
#include "cli/wrapped_program.h"
#include "ingest/traced_import.h"
#include "record/trace_recording.h"
#include "views/display_text.h"

static struct {
	char **only;
	gboolean is_alone, has_allocations;
} given;

const GOptionEntry lode_trace_program_options[] = {
	{"no-follow", 0, 0, G_OPTION_ARG_NONE, &given.is_alone,
		"simulate PROGRAM alone, not the programs and processes that it starts", NULL},
	{"only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.only,
		"simulate only programs with such a name, such as 'cc1*' (with a slash: such a "
		"path); others run, and what they start is followed",
		"GLOB"},
	{"allocations", 0, 0, G_OPTION_ARG_NONE, &given.has_allocations,
		"name blocks of the heap after where PROGRAM allocated them, in --by object and "
		"--sharing",
		NULL},
	G_OPTION_ENTRY_NULL,
};

bool lode_trace_program_check(char **arguments, bool *out_is_program, GError **error)
{
	const char *fault = NULL;

	*out_is_program = arguments[0] != NULL && g_str_equal(arguments[0], "--");
	if (*out_is_program && arguments[1] == NULL)
		fault = "PROGRAM is missing: lode trace simulate -- PROGRAM ARGUMENT…";
	else if (given.only != NULL && given.is_alone)
		fault = "--only cannot be used with --no-follow";
	else if (!*out_is_program && (given.only != NULL || given.is_alone))
		fault = "--only and --no-follow are for a program, after '--'; of a trace's "
			"processes each has a file";
	else if (!*out_is_program && given.has_allocations)
		fault = "--allocations is for a program, after '--'; a trace has what 'lode trace "
			"record --allocations' recorded";
	else if (given.has_allocations && !lode_trace_misses_are_wanted())
		fault = "--allocations is for --by, --sharing and --plot-objects";
	else if (*out_is_program && lode_trace_range_function() != NULL &&
		 lode_trace_range_is_given())
		fault = "--function of a program cannot be used with --from, --count and --warm-up";
	if (fault != NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, fault);
	return fault == NULL;
}

/* A process, or a program that took its place. */
typedef struct {
	LodeTraceReplay *replay;
	const LodeTraceDescription *description; /* while it runs */
	char *command;
	unsigned n_threads;
} Process;

typedef struct {
	const LodeTraceWork *work;
	GPtrArray *processes; /* Process, as they began */
} Session;

static void process_free(void *data)
{
	Process *process = data;

	lode_trace_replay_free(process->replay);
	g_free(process->command);
	g_free(process);
}

static void *begin(const LodeTraceDescription *description, void *user_data, GError **error)
{
	Session *self = user_data;
	LodeTraceReplay *replay = lode_trace_replay_new(
		&self->work->replay, &self->work->range, error);

	if (replay == NULL)
		return NULL;
	Process *process = g_new0(Process, 1);
	process->replay = replay;
	process->description = description;
	process->command = g_strdup(description->command);
	g_ptr_array_add(self->processes, process);
	return process;
}

static bool take(void *trace, const LodeTraceFrame *frame, GError **error)
{
	return lode_trace_replay_take(((Process *)trace)->replay, frame, NULL, error);
}

static bool end(void *trace, GError **error)
{
	Process *process = trace;

	(void)error;
	lode_trace_replay_finish(process->replay);
	process->n_threads = process->description->threads->len;
	return true;
}

static bool nothing_simulated(const Session *self, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"the program ended before reference %" G_GUINT64_FORMAT, self->work->range.first);
	return false;
}

/* Of all processes together. */
static bool write_misses(const Session *self, LodeTracedImport *import, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	if (lode_traced_import_n_traces(import) == 0)
		return nothing_simulated(self, error);
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_traced_import_finish(import, &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	return profile != NULL && lode_trace_misses_write(profile, &self->work->misses, error);
}

static bool write_results(const Session *self, const LodeTraceProgram *program, GError **error)
{
	const LodeTraceReplayOptions *replay = &self->work->replay;
	guint n = self->processes->len;
	g_autofree LodeCacheResults *results = g_new0(LodeCacheResults, MAX(n, 1));
	unsigned n_threads = 0;

	if (n == 0)
		return nothing_simulated(self, error);
	for (guint i = 0; i < n; i++) {
		const Process *process = self->processes->pdata[i];
		n_threads = MAX(n_threads, process->n_threads);
		results[i] = (LodeCacheResults){
			.command = process->command,
			.replay = process->replay,
			.hierarchies = replay->hierarchies,
			.n_hierarchies = replay->n_hierarchies,
			.is_classified = replay->classifies,
			.process = i + 1,
		};
	}
	lode_trace_results_tell_cores(replay, n_threads);
	return lode_trace_results_write(results, n, program->format, program->output, error);
}

static void tell(const char *text, LodeAdvice advice, void *user_data)
{
	LodeTerminalProgress *screen = user_data;

	(void)advice;
	lode_terminal_progress_hide(screen);
	lode_display_line(stderr, "lode trace simulate: %s", text);
}

int lode_trace_program_simulate(
	const LodeTraceProgram *program, const LodeTraceWork *work, GError **error)
{
	g_autoptr(GPtrArray) processes = g_ptr_array_new_with_free_func(process_free);
	Session session = {work, processes};
	g_autoptr(LodeRecordingDirectory)
		logs = given.has_allocations ? lode_recording_directory_open(NULL, error) : NULL;
	const LodeTraceTaker replaying = {begin, take, end, &session};
	const LodeImportOptions importing = lode_trace_misses_import_options(&work->misses);
	g_autoptr(LodeTracedImport)
		import = lode_trace_misses_are_wanted() ? lode_traced_import_new(&importing) : NULL;
	g_auto(LodeTerminalProgress) screen;
	const LodeTraceRecordingOptions recording = {
		.argv = program->argv,
		.taker = import != NULL ? lode_traced_import_taker(import) : &replaying,
		.range = &work->range,
		/* Turns are cut where a frame ends. */
		.frame_references = work->replay.quantum > 0 ? UINT64_MAX : 0,
		.way = -1,
		.function = lode_trace_range_function(),
		.is_alone = given.is_alone,
		.only = (const char *const *)given.only,
		.has_allocations = logs != NULL,
		.allocations = logs != NULL ? logs->path : NULL,
		.notes = {.take = tell, .user_data = &screen},
	};

	lode_terminal_progress_init(&screen);
	if (given.has_allocations && logs == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceRecording)
		recorded = lode_trace_recording_run(&recording, &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	if (recorded == NULL || !(import != NULL ? write_misses(&session, import, error)
						 : write_results(&session, program, error)))
		return LODE_EXIT_FAILED;
	return lode_wrapped_program_status(recorded->exit_status, recorded->stop_signal);
}
