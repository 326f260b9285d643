/* SPDX-License-Identifier: MIT */
#include "record/qemu/trace_recording.h"

#include "base/error.h"
#include "base/files/run_folder.h"
#include "record/programs/program_check.h"
#include "record/qemu/taker_queue.h"
#include "record/qemu/trace_intake.h"
#include "record/qemu/trace_run.h"
#include "traces/frames/packing_queue.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

/* In the order in which they are tried. */
static const LodeTraceRunWay *const ways[] = {
	[LODE_TRACE_WAY_QEMU] = &lode_qemu_trace,
	[LODE_TRACE_WAY_LACKEY] = &lode_lackey_trace,
};

const char *lode_trace_way_to_text(LodeTraceWay value)
{
	return ways[value]->name;
}

char *lode_trace_run_version(const char *tool)
{
	const char *const command[] = {tool, "--version", NULL};
	g_autofree char *text = NULL;

	if (!g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
		    &text, NULL, NULL, NULL) ||
		text == NULL)
		return NULL;
	const char *at = text + strcspn(text, "0123456789\n");
	/* "qemu-x86_64 version 7.2.22", "valgrind-3.19.0": the first number with a point. */
	while (*at != '\0' && *at != '\n' && at[strspn(at, "0123456789")] != '.') {
		at += strspn(at, "0123456789");
		at += strcspn(at, "0123456789\n");
	}
	size_t length = strspn(at, "0123456789.");
	return length > 0 ? g_strndup(at, length) : NULL;
}

/* Tries one way after the other as long as the program has not run. */
static bool run_ways(LodeTraceRun *run, LodeTraceWay *out_way, GError **error)
{
	int wanted = run->options->way;
	int first = wanted >= 0 ? wanted : 0;
	int last = wanted >= 0 ? wanted : LODE_N_TRACE_WAYS - 1;

	for (int i = first;; i++) {
		g_autoptr(GError) why = NULL;
		LodeTraceRunOutcome outcome = ways[i]->run(run, &why);
		*out_way = (LodeTraceWay)i;
		if (outcome == LODE_TRACE_RUN_DONE)
			return true;
		if (outcome == LODE_TRACE_RUN_FAILED || i == last) {
			g_propagate_error(error, g_steal_pointer(&why));
			return false;
		}
		lode_notes_add(&run->options->notes, "%s; tracing by %s, which is slower",
			why->message, ways[i + 1]->name);
	}
}

static void add_total(LodeTraceDescription *description, const char *name, uint64_t value)
{
	const LodeTraceTotal total = {
		.name = lode_trace_description_intern(description, name),
		.value = value,
	};

	g_array_append_val(description->totals, total);
}

void lode_trace_run_describe_program(LodeTraceDescription *description, const char *command)
{
	description->command = lode_trace_description_intern(description, command);
	description->build = lode_trace_description_intern(description, "lode " LODE_VERSION);
	description->is_partial = true;
}

LodeTraceIntake *lode_trace_run_open(
	const LodeTraceRun *run, const char *path, const char *command, GError **error)
{
	const LodeTraceIntakeOptions options = {
		.path = run->queue == NULL ? path : NULL,
		.writer = &run->options->writer,
		.taker = run->queue != NULL ? lode_taker_queue_front(run->queue) : NULL,
		.skip = run->options->skip,
		.limit = run->options->limit,
		.progress = run->progress,
	};
	LodeTraceIntake *self = lode_trace_intake_open(&options, error);

	if (self != NULL)
		lode_trace_run_describe_program(lode_trace_intake_description(self), command);
	return self;
}

bool lode_trace_run_finish(const LodeTraceRecordingOptions *options, LodeTraceIntake *intake,
	bool is_kept, GError **error)
{
	LodeTraceDescription *description = lode_trace_intake_description(intake);

	description->is_partial = options->skip > 0 || options->function != NULL ||
	                          lode_trace_intake_is_complete(intake);
	add_total(description, "instructions", lode_trace_intake_n_instructions(intake));
	if (options->skip > 0)
		add_total(description, "instructions skipped", lode_trace_intake_n_skipped(intake));
	return lode_trace_intake_finish(intake, is_kept, error);
}

static LodeTraceRecording *result_of(LodeTraceRun *run, LodeTraceWay way)
{
	LodeTraceRecording *self = g_new0(LodeTraceRecording, 1);

	self->way = way;
	self->n_references = lode_trace_intake_n_references(run->intake);
	self->n_instructions = lode_trace_intake_n_instructions(run->intake);
	self->n_bytes = lode_trace_intake_n_bytes(run->intake);
	self->n_threads = run->description->threads->len;
	self->exit_status = run->end.status;
	self->stop_signal = run->end.stop_signal;
	self->is_cut = lode_trace_intake_is_complete(run->intake);
	self->processes = g_steal_pointer(&run->processes);
	return self;
}

static void note_dropped(const LodeTraceRun *run)
{
	uint64_t n_dropped = lode_trace_intake_n_dropped(run->intake);

	if (n_dropped > 0)
		lode_notes_add(&run->options->notes,
			"%" G_GUINT64_FORMAT
			" references are not recorded: they are of threads after the %d-th",
			n_dropped, LODE_MAX_TRACE_THREADS);
}

static void note_all_skipped(const LodeTraceRun *run)
{
	uint64_t skip = run->options->skip;

	if (skip > 0 && lode_trace_intake_n_instructions(run->intake) == 0)
		lode_notes_add(&run->options->notes,
			"the trace is empty: the program ended after %" G_GUINT64_FORMAT
			" of the %" G_GUINT64_FORMAT " instructions to skip",
			lode_trace_intake_n_skipped(run->intake), skip);
}

static LodeTraceRecording *record(LodeTraceRun *run, GError **error)
{
	LodeTraceWay way;

	if (!run_ways(run, &way, error))
		return NULL;
	GError *failed = lode_trace_intake_steal_error(run->intake);
	if (failed == NULL)
		failed = g_steal_pointer(&run->error);
	if (failed != NULL) {
		g_propagate_error(error, failed);
		return NULL;
	}
	note_dropped(run);
	note_all_skipped(run);
	if (!lode_trace_run_finish(run->options, run->intake, true, error) ||
		(run->queue != NULL && !lode_taker_queue_finish(run->queue, error)))
		return NULL;
	return result_of(run, way);
}

static void clear_process(gpointer data)
{
	LodeTraceRecordedProcess *process = data;

	g_free(process->path);
	g_free(process->command);
}

static LodeTraceRecording *run(
	const LodeTraceRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	const char *tool = options->way == LODE_TRACE_WAY_LACKEY ? "valgrind" : "QEMU";
	g_autofree char *program = lode_program_check(options->argv[0], tool, error);

	if (program == NULL)
		return NULL;
	/* All processes share workers and memory. */
	bool has_files = options->output != NULL;
	g_autoptr(LodePackingQueue)
		packing = has_files ? lode_packing_queue_new(options->writer.threads, 0) : NULL;
	g_autoptr(LodeTakerQueue) queue = has_files ? NULL : lode_taker_queue_new(options->taker);
	g_autoptr(LodeTraceStreamGroup) group = lode_trace_stream_group_new(0);
	LodeTraceRecordingOptions shared = *options;
	shared.writer.queue = packing;
	shared.writer.group = group;
	LodeTraceRun run = {
		.options = &shared,
		.progress = progress,
		.program = program,
		.queue = queue,
	};
	g_autofree char *command = g_strjoinv(" ", (char **)options->argv);
	g_autofree char *valid = g_utf8_make_valid(command, -1);
	g_autoptr(LodeTraceIntake)
		intake = lode_trace_run_open(&run, options->output, valid, error);
	if (intake == NULL)
		return NULL;
	run.intake = intake;
	run.description = lode_trace_intake_description(intake);
	run.processes = g_array_new(FALSE, FALSE, sizeof(LodeTraceRecordedProcess));
	g_array_set_clear_func(run.processes, clear_process);
	LodeTraceRecording *recorded = record(&run, error);
	g_clear_pointer(&run.processes, g_array_unref);
	g_clear_error(&run.error);
	if (queue != NULL)
		lode_taker_queue_finish(queue, NULL);
	return recorded;
}

#define LOGS ".allocations"

/* ".x.rps.allocations" */
static bool is_log_folder(const char *name)
{
	return name[0] == '.' && g_str_has_suffix(name, LOGS);
}

/* On the disk of the trace, next to which the logs go from there. In the end it has those of
 * processes of which nothing was traced. */
static LodeRunFolder *make_log_folder(const char *path, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(path);
	g_autofree char *absolute = g_canonicalize_filename(directory, NULL);
	g_autofree char *base = g_path_get_basename(path);
	g_autofree char *name = g_strdup_printf(".%s" LOGS, base);

	lode_run_folder_remove_stale(absolute, is_log_folder);
	LodeRunFolder *folder = lode_run_folder_make(absolute, name);
	if (folder == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot write there: %s",
			directory, g_strerror(errno));
	return folder;
}

LodeTraceRecording *lode_trace_recording_run(
	const LodeTraceRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	LodeTraceRecordingOptions given = *options;
	g_autoptr(LodeRunFolder) folder = NULL;

	if (!given.has_allocations)
		given.allocations = NULL;
	else if (given.allocations == NULL) {
		folder = make_log_folder(given.output, error);
		if (folder == NULL)
			return NULL;
		given.allocations = folder->path;
	}
	return run(&given, progress, error);
}

void lode_trace_recording_free(LodeTraceRecording *self)
{
	if (self == NULL)
		return;
	if (self->processes != NULL)
		g_array_unref(self->processes);
	g_free(self);
}
