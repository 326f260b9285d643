/* SPDX-License-Identifier: MIT */
/*
 * Traces a program in QEMU's user-mode emulation, with a plugin of ours that writes what it sees
 * into memory that we share (trace_ring_format.h). One thread of ours empties it while this one
 * waits for the program.
 */
#include "base/error.h"
#include "base/own_library.h"
#include "base/quiet_thread.h"
#include "images/named_symbol.h"
#include "record/preloaded_library.h"
#include "record/script_program.h"
#include "record/trace_mappings.h"
#include "record/trace_ring.h"
#include "record/trace_run.h"

#include <string.h>

#define EMULATOR "qemu-x86_64"
#define PLUGIN_FOLDER "qemu_plugin"
#define PLUGIN LODE_OWN_LIBRARY("trace")

typedef struct {
	LodeTraceRun *run;
	LodeTraceRing *ring;
	LodeTraceMappings *mappings;
	LodeTraceRingChunk chunk;
	char *executed; /* what the program is about to become; NULL: nothing */
	uint64_t n_forks;
	unsigned n_functions;
	bool has_started, has_too_many_functions;
} Session;

static void add_function(Session *self, uint64_t address)
{
	if (lode_trace_ring_add_function(self->ring, address))
		self->n_functions++;
	else
		self->has_too_many_functions = true;
}

static void find_functions(const LodeTraceMapping *mapping, void *user_data)
{
	Session *self = user_data;
	g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (!lode_named_symbol_functions(
		    mapping->path, self->run->options->function, offsets, NULL))
		return;
	for (guint i = 0; i < offsets->len; i++) {
		uint64_t offset = g_array_index(offsets, uint64_t, i);
		if (offset >= mapping->offset &&
			offset - mapping->offset < mapping->end - mapping->start)
			add_function(self, mapping->start + (offset - mapping->offset));
	}
}

static void see_event(Session *self)
{
	const TraceEvent *event = &self->chunk.details;

	switch (self->chunk.event) {
	case TRACE_EVENT_START:
		self->has_started = true;
		break;
	case TRACE_EVENT_NAME:
		lode_trace_intake_name_thread(self->run->intake, self->chunk.thread, event->path);
		break;
	case TRACE_EVENT_FORK:
		self->n_forks++;
		break;
	case TRACE_EVENT_EXEC:
		g_free(self->executed);
		self->executed = g_utf8_make_valid(event->path, -1);
		break;
	case TRACE_EVENT_NO_EXEC:
		g_clear_pointer(&self->executed, g_free);
		break;
	default:
		lode_trace_mappings_see(self->mappings, self->chunk.event, event,
			lode_trace_intake_n_references(self->run->intake));
		break;
	}
}

static void see_chunk(Session *self)
{
	LodeTraceRingChunk *chunk = &self->chunk;

	if (chunk->event != TRACE_EVENT_NONE)
		see_event(self);
	else if (!lode_trace_intake_add(
			 self->run->intake, chunk->references, chunk->n, chunk->thread, chunk->tid))
		lode_trace_ring_stop(self->ring);
}

static gpointer empty_ring(gpointer data)
{
	Session *self = data;

	for (;;) {
		/* asked first: what was queued before the end is then found after the question */
		bool has_ended = lode_trace_ring_has_ended(self->ring);
		if (lode_trace_ring_next(self->ring, &self->chunk))
			see_chunk(self);
		else if (has_ended)
			break;
		lode_trace_intake_report(self->run->intake);
	}
	while (lode_trace_ring_take_rest(self->ring, &self->chunk))
		see_chunk(self);
	return NULL;
}

static void add(GPtrArray *line, const char *word)
{
	g_ptr_array_add(line, g_strdup(word));
}

/* The most able processor that it emulates: programs for newer ones run too. */
static GPtrArray *command_line(const Session *self, const char *emulator, const char *plugin)
{
	const char *const *argv = self->run->options->argv;
	/* A script finds its own path as it was typed. */
	const char *path = strchr(argv[0], '/') != NULL ? argv[0] : self->run->program;
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) program = lode_script_program(path, argv, &name);
	g_autofree char *given = g_strdup_printf(
		"%s,ring=%s", plugin, lode_trace_ring_path(self->ring));
	const char *const words[] = {emulator, "-cpu", "max", "-plugin", given, "-0", name};
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		add(line, words[i]);
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

static bool run_program(Session *self, GPtrArray *line, GError **error)
{
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.notes = self->run->options->notes,
	};
	GThread *reader = lode_quiet_thread_new("ring", empty_ring, self);
	bool is_started = lode_child_run(&child, &self->run->end, error);

	lode_trace_ring_end(self->ring);
	g_thread_join(reader);
	return is_started;
}

static void note_untraced(const Session *self)
{
	const LodeTraceRun *run = self->run;
	uint32_t n_threads = lode_trace_ring_n_untraced_threads(self->ring);

	if (self->executed != NULL)
		lode_notes_add(&run->options->notes,
			"the program was replaced by '%s' (exec), which is not traced",
			self->executed);
	if (self->n_forks > 0)
		lode_notes_add(&run->options->notes,
			"%" G_GUINT64_FORMAT " process%s that the program made %s not traced",
			self->n_forks, self->n_forks == 1 ? "" : "es",
			self->n_forks == 1 ? "is" : "are");
	if (n_threads > 0)
		lode_notes_add(&run->options->notes, "%u thread%s not traced: too many at a time",
			n_threads, n_threads == 1 ? " is" : "s are");
	if (lode_trace_mappings_n_lost(self->mappings) > 0)
		lode_notes_add(&run->options->notes,
			"%" G_GUINT64_FORMAT " of the program's mappings dropped: table full",
			lode_trace_mappings_n_lost(self->mappings));
	if (self->has_too_many_functions)
		lode_notes_add(&run->options->notes,
			"not all functions '%s' are traced: there are too many",
			run->options->function);
}

static bool check_functions(const Session *self, GError **error)
{
	const char *function = self->run->options->function;

	if (function == NULL || self->n_functions > 0)
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
	g_autoptr(GPtrArray) line = command_line(self, emulator, plugin);
	if (!run_program(self, line, error))
		return LODE_TRACE_RUN_UNFIT;
	if (!self->has_started && self->run->end.stop_signal == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s did not start the program", emulator);
		return LODE_TRACE_RUN_UNFIT;
	}
	note_untraced(self);
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
	session->mappings = lode_trace_mappings_new(
		run->description, run->options->function != NULL ? find_functions : NULL, session);
	if (run->options->function != NULL)
		lode_trace_ring_ask_for_functions(ring);
	g_autofree char *version = lode_trace_run_version(emulator);
	g_autofree char *tool = g_strdup_printf(
		EMULATOR " %s", version != NULL ? version : "(unknown version)");
	run->description->tool = lode_trace_description_intern(run->description, tool);
	LodeTraceRunOutcome outcome = trace(session, emulator, error);
	lode_trace_mappings_free(session->mappings);
	g_free(session->executed);
	g_free(session);
	return outcome;
}

const LodeTraceRunWay lode_qemu_trace = {.name = "qemu", .run = run};
