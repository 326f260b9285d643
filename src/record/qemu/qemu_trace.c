/* SPDX-License-Identifier: MIT */
/*
 * Traces a program in QEMU's user-mode emulation, with a plugin of ours that writes executions and
 * accesses into shared memory (trace_ring_format.h). One thread of ours empties it while this one
 * waits for the program.
 */
#include "base/error.h"
#include "base/files/own_library.h"
#include "base/quiet_thread.h"
#include "record/programs/preloaded_library.h"
#include "record/qemu/qemu_program.h"
#include "record/qemu/traced_processes.h"

#include <string.h>

typedef struct {
	LodeTraceRun *run;
	LodeTraceRing *ring;
	LodeTracedProcesses *processes;
	LodeTraceRingChunk chunk;
} Session;

static gpointer empty_ring(gpointer data)
{
	Session *self = data;

	for (;;) {
		/* checked first: records queued before the end are then found afterwards */
		bool has_ended = lode_trace_ring_has_ended(self->ring);
		if (lode_trace_ring_next(self->ring, &self->chunk))
			lode_traced_processes_take(self->processes, &self->chunk);
		else if (has_ended)
			break;
		lode_traced_processes_poll(self->processes);
	}
	lode_traced_processes_finish(self->processes);
	return NULL;
}

#define LOG_LIBRARY_FOLDER "preload/allocations"
#define LOG_LIBRARY LODE_OWN_LIBRARY("allocations")

/* For the program, with the recorder of allocations; NULL with an error. */
static char **environment_of(const LodeTraceRecordingOptions *options, GError **error)
{
	g_autofree char *library = options->allocations != NULL
	                                   ? lode_preloaded_library_find(
						     LOG_LIBRARY_FOLDER, LOG_LIBRARY, error)
	                                   : NULL;
	g_autofree char *obstacle = library != NULL
	                                    ? lode_preloaded_library_obstacle(options->argv[0])
	                                    : NULL;

	if (options->allocations == NULL)
		return g_get_environ();
	if (library == NULL) {
		g_prefix_error(error, "allocations cannot be recorded: ");
		return NULL;
	}
	if (obstacle != NULL)
		lode_notes_add(&options->notes, "allocations are not recorded: %s", obstacle);
	char **environment = lode_preloaded_library_environment(NULL, library);
	environment = g_environ_setenv(environment, "LODE_ALLOCATIONS", options->allocations, TRUE);
	return g_environ_setenv(environment, "LODE_ALLOCATION_TICKS", "1", TRUE);
}

/* The most able processor that it emulates: programs for newer ones run too. */
static GPtrArray *command_line(
	const Session *self, const char *emulator, GPtrArray **out_environment, GError **error)
{
	const LodeTraceRecordingOptions *options = self->run->options;
	g_auto(GStrv) environment = environment_of(options, error);
	const LodeQemuProgram program = {
		.emulator = emulator,
		.program = self->run->program,
		.argv = options->argv,
		.cpu = "max",
		.plugin_option = "ring=",
		.plugin_value = lode_trace_ring_path(self->ring),
		.is_alone = options->is_alone,
		.only = options->only,
		.environment = (const char *const *)environment,
	};

	return environment != NULL ? lode_qemu_program_line(&program, out_environment, error)
	                           : NULL;
}

static bool run_program(
	Session *self, const GPtrArray *line, const GPtrArray *environment, GError **error)
{
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.environment = (const char *const *)environment->pdata,
		.notes = self->run->options->notes,
	};
	GThread *reader = lode_quiet_thread_new("ring", empty_ring, self);
	bool is_started = lode_child_run(&child, &self->run->end, error);

	/* Processes that still run continue untraced. */
	lode_trace_ring_stop(self->ring);
	lode_trace_ring_end(self->ring);
	g_thread_join(reader);
	return is_started;
}

static bool check_functions(const Session *self, GError **error)
{
	const char *function = self->run->options->function;

	if (function == NULL || lode_traced_processes_n_functions(self->processes) > 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"neither the program nor what it loaded has a function '%s'", function);
	return false;
}

static LodeTraceRunOutcome trace(Session *self, const char *emulator, GError **error)
{
	g_autoptr(GPtrArray) environment = NULL;
	g_autoptr(GPtrArray) line = command_line(self, emulator, &environment, error);

	if (line == NULL || !run_program(self, line, environment, error))
		return LODE_TRACE_RUN_UNFIT;
	if (!lode_traced_processes_have_started(self->processes) &&
		self->run->end.stop_signal == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s did not start the program", emulator);
		return LODE_TRACE_RUN_UNFIT;
	}
	lode_traced_processes_note(self->processes);
	if (self->run->options->only != NULL && !lode_traced_processes_have_any(self->processes)) {
		lode_qemu_program_fail_only(self->run->options->only, error);
		return LODE_TRACE_RUN_FAILED;
	}
	return check_functions(self, error) ? LODE_TRACE_RUN_DONE : LODE_TRACE_RUN_FAILED;
}

static LodeTraceRunOutcome run(LodeTraceRun *run, GError **error)
{
	g_autofree char *emulator = lode_qemu_program_emulator(error);
	g_autoptr(LodeTraceRing) ring = emulator != NULL ? lode_trace_ring_new(error) : NULL;

	if (ring == NULL)
		return LODE_TRACE_RUN_UNFIT;
	Session *session = g_new0(Session, 1);
	session->run = run;
	session->ring = ring;
	session->processes = lode_traced_processes_new(run, ring);
	if (run->options->filter != NULL)
		lode_trace_ring_filter(ring, run->options->filter);
	if (run->options->function != NULL)
		lode_trace_ring_ask_for_functions(ring);
	g_autofree char *version = lode_trace_run_version(emulator);
	g_autofree char *tool = g_strdup_printf(
		LODE_QEMU_EMULATOR " %s", version != NULL ? version : "(unknown version)");
	run->description->tool = lode_trace_description_intern(run->description, tool);
	LodeTraceRunOutcome outcome = trace(session, emulator, error);
	lode_traced_processes_free(session->processes);
	g_free(session);
	return outcome;
}

const LodeTraceRunWay lode_qemu_trace = {.name = "qemu", .run = run};
