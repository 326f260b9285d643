/* SPDX-License-Identifier: MIT */
/*
 * Traces a program in QEMU's user-mode emulation, with a plugin of ours that writes what it sees
 * into memory that we share (trace_ring_format.h). One thread of ours empties it while this one
 * waits for the program.
 */
#include "base/error.h"
#include "base/own_library.h"
#include "base/quiet_thread.h"
#include "record/preloaded_library.h"
#include "record/script_program.h"
#include "record/traced_processes.h"

#include <fnmatch.h>
#include <string.h>

#define EMULATOR "qemu-x86_64"
#define PLUGIN_FOLDER "qemu_plugin"
#define PLUGIN LODE_OWN_LIBRARY("trace")

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
		/* asked first: what was queued before the end is then found after the question */
		bool has_ended = lode_trace_ring_has_ended(self->ring);
		if (lode_trace_ring_next(self->ring, &self->chunk))
			lode_traced_processes_see(self->processes, &self->chunk);
		else if (has_ended)
			break;
		lode_traced_processes_tend(self->processes);
	}
	lode_traced_processes_finish(self->processes);
	return NULL;
}

static void add(GPtrArray *line, const char *word)
{
	g_ptr_array_add(line, g_strdup(word));
}

static bool is_wanted(const char *path, const char *const *only)
{
	g_autofree char *name = g_path_get_basename(path);

	for (; only != NULL && *only != NULL; only++)
		if (fnmatch(*only, strchr(*only, '/') != NULL ? path : name, 0) == 0)
			return true;
	return false;
}

/* What the plugin is told, see tools/qemu_plugin/follow.h; a comma is written as two. */
static char *plugin_text(const Session *self, const char *plugin, const GPtrArray *program)
{
	const LodeTraceRecordingOptions *options = self->run->options;
	GString *text = g_string_new(plugin);

	g_string_append_printf(text, ",ring=%s", lode_trace_ring_path(self->ring));
	if (!options->is_alone)
		g_string_append(text, ",follow=on");
	for (const char *const *glob = options->only; glob != NULL && *glob != NULL; glob++) {
		g_auto(GStrv) parts = g_strsplit(*glob, ",", -1);
		g_autofree char *escaped = g_strjoinv(",,", parts);
		g_string_append_printf(text, ",only=%s", escaped);
	}
	if (options->only != NULL && !is_wanted(self->run->program, options->only) &&
		!is_wanted(program->pdata[0], options->only))
		g_string_append(text, ",record=no");
	return g_string_free(text, FALSE);
}

/* See tools/qemu_plugin/follow.c, which does the same for programs that follow. */
static bool is_for_program_only(const char *variable)
{
	static const char *const starts[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_", "G_", "QEMU_"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(variable, starts[i]))
			return strchr(variable, ',') == NULL;
	return false;
}

/* QEMU gives the program its own environment in reverse; what the loader of QEMU itself would obey
 * is on its command line. */
static GPtrArray *environment_of(GPtrArray *line)
{
	g_auto(GStrv) ours = g_get_environ();
	GPtrArray *environment = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = g_strv_length(ours); i-- > 0;) {
		if (is_for_program_only(ours[i])) {
			add(line, "-E");
			add(line, ours[i]);
		} else {
			add(environment, ours[i]);
		}
	}
	g_ptr_array_add(environment, NULL);
	return environment;
}

/* The most able processor that it emulates: programs for newer ones run too. */
static GPtrArray *command_line(
	const Session *self, const char *emulator, const char *plugin, GPtrArray **out_environment)
{
	const char *const *argv = self->run->options->argv;
	/* A script finds its own path as it was typed. */
	const char *path = strchr(argv[0], '/') != NULL ? argv[0] : self->run->program;
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) program = lode_script_program(path, argv, &name);
	g_autofree char *given = plugin_text(self, plugin, program);
	const char *const words[] = {emulator, "-cpu", "max", "-plugin", given};
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		add(line, words[i]);
	*out_environment = environment_of(line);
	add(line, "-0");
	add(line, name);
	for (guint i = 0; i < program->len; i++)
		add(line, program->pdata[i]);
	return line;
}

static char *find_plugin(GError **error)
{
	char *path = lode_preloaded_library_locate(PLUGIN_FOLDER, PLUGIN, error);

	if (path == NULL || strchr(path, ',') == NULL)
		return path;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"%s: a comma in its path ends the name in what %s is told", path, EMULATOR);
	g_free(path);
	return NULL;
}

static char *find_emulator(GError **error)
{
	char *path = g_find_program_in_path(EMULATOR);

	if (path == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			EMULATOR " is not installed (Debian: apt install qemu-user)");
	return path;
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

	/* What still runs goes on untraced. */
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
	g_autofree char *plugin = find_plugin(error);

	if (plugin == NULL)
		return LODE_TRACE_RUN_UNFIT;
	g_autoptr(GPtrArray) environment = NULL;
	g_autoptr(GPtrArray) line = command_line(self, emulator, plugin, &environment);
	if (!run_program(self, line, environment, error))
		return LODE_TRACE_RUN_UNFIT;
	if (!lode_traced_processes_have_started(self->processes) &&
		self->run->end.stop_signal == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s did not start the program", emulator);
		return LODE_TRACE_RUN_UNFIT;
	}
	lode_traced_processes_note(self->processes);
	if (self->run->options->only != NULL && !lode_traced_processes_have_any(self->processes)) {
		g_autofree char *names = g_strjoinv("', '", (char **)self->run->options->only);
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no program that was executed has a name like '%s'", names);
		return LODE_TRACE_RUN_FAILED;
	}
	return check_functions(self, error) ? LODE_TRACE_RUN_DONE : LODE_TRACE_RUN_FAILED;
}

static LodeTraceRunOutcome run(LodeTraceRun *run, GError **error)
{
	g_autofree char *emulator = find_emulator(error);
	g_autoptr(LodeTraceRing) ring = emulator != NULL ? lode_trace_ring_new(error) : NULL;

	if (ring == NULL)
		return LODE_TRACE_RUN_UNFIT;
	Session *session = g_new0(Session, 1);
	session->run = run;
	session->ring = ring;
	session->processes = lode_traced_processes_new(run, ring);
	if (run->options->function != NULL)
		lode_trace_ring_ask_for_functions(ring);
	g_autofree char *version = lode_trace_run_version(emulator);
	g_autofree char *tool = g_strdup_printf(
		EMULATOR " %s", version != NULL ? version : "(unknown version)");
	run->description->tool = lode_trace_description_intern(run->description, tool);
	LodeTraceRunOutcome outcome = trace(session, emulator, error);
	lode_traced_processes_free(session->processes);
	g_free(session);
	return outcome;
}

const LodeTraceRunWay lode_qemu_trace = {.name = "qemu", .run = run};
