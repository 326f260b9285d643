/* SPDX-License-Identifier: MIT */
/* lode trace simulate -- PROGRAM: simulates caches on the references of a program while it runs. */
#include "cli/terminal_asker.h"

#include "base/error.h"
#include "cli/recording/recording_directory.h"
#include "cli/recording/wrapped_program.h"
#include "cli/terminal_progress.h"
#include "ingest/traced_import.h"
#include "model/profile.h"
#include "questions/trace_simulate.h"
#include "record/qemu/trace_recording.h"
#include "views/form/display_text.h"

#include <unistd.h>

static bool check_options(char **arguments, const LodeSimulateOptions *options, GError **error)
{
	if (arguments[1] == NULL)
		return lode_parameter_refuse(
			error, "PROGRAM is missing: lode trace simulate -- PROGRAM ARGUMENT…");
	return options->selection.function == NULL ||
	       (!options->selection.has_first && !options->selection.has_warm_up &&
		       options->selection.range.count == UINT64_MAX) ||
	       lode_parameter_refuse(error,
		       "--function of a program cannot be used with --from, --count and --warm-up");
}

/* A process, or a program that it executed. */
typedef struct {
	LodeTraceReplay *replay;
	char *command;
	unsigned n_threads;
} Process;

typedef struct {
	LodeAsking asking;
	const LodeSimulation *simulation;
	GPtrArray *processes; /* Process, in the order of their start */
	LodeTerminalProgress *screen;
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
		&self->simulation->replay, &self->simulation->options->selection.range, error);

	if (replay == NULL)
		return NULL;
	Process *process = g_new0(Process, 1);
	process->replay = replay;
	process->command = g_strdup(description->command);
	g_ptr_array_add(self->processes, process);
	return process;
}

static bool take(void *trace, LodeTraceFrame **frame, GError **error)
{
	return lode_trace_replay_take(((Process *)trace)->replay, *frame, NULL, error);
}

static bool take_words(void *trace, LodeCodePieces *pieces, const uint64_t *words, size_t n,
	LodeWordsTaken *taken, GError **error)
{
	(void)error;
	lode_trace_replay_take_words(((Process *)trace)->replay, pieces, words, n, taken);
	return true;
}

/* Whether all processes' words may be filtered by the program itself. */
static bool find_filter(const Session *self, LodeWordFilterGeometry *out)
{
	g_autoptr(LodeTraceReplay) replay = lode_trace_replay_new(
		&self->simulation->replay, &self->simulation->options->selection.range, NULL);

	return replay != NULL && lode_trace_replay_word_filter(replay, out);
}

static bool end(void *trace, const LodeTraceDescription *description, GError **error)
{
	Process *process = trace;

	(void)error;
	lode_trace_replay_finish(process->replay);
	process->n_threads = description->threads->len;
	return true;
}

static bool nothing_simulated(const Session *self, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"the program ended before reference %" G_GUINT64_FORMAT,
		self->simulation->options->selection.range.first);
	return false;
}

/* Program output in a file or a pipe is data: the results must not be appended to it. */
static FILE *begin_results(Session *self, GError **error)
{
	FILE *out = lode_asking_begin(&self->asking, self->simulation->options->output, error);

	if (out != stdout || isatty(STDOUT_FILENO) == 1)
		return out;
	self->asking.terminal = lode_terminal_of(stderr);
	return stderr;
}

/* All processes together. */
static bool write_places(Session *self, LodeTracedImport *import, GError **error)
{
	if (lode_traced_import_n_traces(import) == 0)
		return nothing_simulated(self, error);
	g_autoptr(LodeProfile)
		profile = lode_traced_import_finish(import, self->asking.progress, error);
	FILE *out = profile != NULL ? begin_results(self, error) : NULL;
	return out != NULL &&
	       lode_simulation_write_places(self->simulation, profile, &self->asking, out, error) &&
	       lode_asking_end(&self->asking, error);
}

static bool write_results(Session *self, GError **error)
{
	const LodeTraceReplayOptions *replay = &self->simulation->replay;
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
	lode_simulation_note_cores(self->simulation, n_threads, &self->asking);
	FILE *out = begin_results(self, error);
	return out != NULL &&
	       lode_simulation_write_results(
		       self->simulation, results, n, &self->asking.terminal, out, error) &&
	       lode_asking_end(&self->asking, error);
}

static void print_note(const char *text, LodeAdvice advice, void *user_data)
{
	LodeTerminalProgress *screen = user_data;

	(void)advice;
	lode_terminal_progress_hide(screen);
	lode_display_line(stderr, "lode trace simulate: %s", text);
}

static void note(LodeAsking *asking, const char *text)
{
	(void)asking;
	lode_display_line(stderr, "lode trace simulate: %s", text);
}

static int simulate(Session *self, char **argv, GError **error)
{
	const LodeSimulateOptions *options = self->simulation->options;
	const LodeTraceTaker replaying = {
		.begin = begin,
		.take = take,
		.take_words = lode_trace_replay_may_take_words(
				      &self->simulation->replay, &options->selection.range)
	                              ? take_words
	                              : NULL,
		.end = end,
		.user_data = self,
		.range = &options->selection.range,
		/* The end of a frame cuts a thread's turn, so that frames are as large as possible.
	         */
		.frame_references = options->quantum > 0 ? UINT64_MAX : 0,
	};
	g_autoptr(LodeRecordingDirectory)
		logs = options->has_allocations ? lode_recording_directory_open(NULL, error) : NULL;
	g_autoptr(LodeTracedImport)
		import = self->simulation->has_places
	                         ? lode_traced_import_new(&self->simulation->import)
	                         : NULL;
	LodeWordFilterGeometry filter;
	bool is_filtered = import == NULL && find_filter(self, &filter);
	const LodeTraceRecordingOptions recording = {
		.argv = (const char *const *)argv,
		.taker = import != NULL ? lode_traced_import_taker(import) : &replaying,
		.filter = is_filtered ? &filter : NULL,
		.way = -1,
		.function = options->selection.function,
		.is_alone = options->is_alone,
		.only = options->only,
		.has_allocations = logs != NULL,
		.allocations = logs != NULL ? logs->path : NULL,
		.notes = {.take = print_note, .user_data = self->screen},
	};

	if (options->has_allocations && logs == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeTraceRecording)
		recorded = lode_trace_recording_run(&recording, self->asking.progress, error);
	lode_terminal_progress_hide(self->screen);
	if (recorded == NULL ||
		!(import != NULL ? write_places(self, import, error) : write_results(self, error)))
		return LODE_EXIT_FAILED;
	return lode_wrapped_program_status(recorded->exit_status, recorded->stop_signal);
}

int lode_trace_simulate_program(LodeSimulateOptions *options, char **arguments, GError **error)
{
	static const LodeAsker asker = {.note = note};
	g_autoptr(GPtrArray) processes = g_ptr_array_new_with_free_func(process_free);
	g_auto(LodeTerminalProgress) screen;
	g_auto(LodeSimulation) simulation = {0};
	Session session = {.asking = {.asker = &asker, .progress = &screen.progress},
		.simulation = &simulation,
		.processes = processes,
		.screen = &screen};

	lode_terminal_progress_init(&screen);
	if (!check_options(arguments, options, error) ||
		!lode_simulation_init(&simulation, options, &session.asking, error))
		return LODE_EXIT_FAILED;
	int status = simulate(&session, arguments + 1, error);
	lode_output_file_close(session.asking.file);
	return status;
}
