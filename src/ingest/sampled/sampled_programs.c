/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_programs.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

#include <fnmatch.h>
#include <string.h>

enum {
	NAME_BYTES = 15, /* the kernel keeps so many of a command's name */
	PROTECTION_EXECUTE = 4,
};

typedef enum {
	BEGIN_EXEC,
	BEGIN_FORK,
	FIRST_CODE, /* the program's file is mapped before its libraries */
} EventKind;

typedef struct {
	uint64_t time_ns;
	uint32_t pid, parent;
	uint32_t order; /* of the records */
	EventKind kind;
	const char *text;
} Event;

typedef struct {
	uint64_t time_ns;
	bool is_wanted;
} Change;

typedef struct {
	GArray *changes; /* Change, by time */
	bool awaits_code;
} Process;

struct LodeSampledPrograms {
	const char *const *only;
	bool is_alone, has_program;
	GStringChunk *strings;
	GArray *events;
	GHashTable *processes; /* pid → Process */
};

static void process_free(gpointer data)
{
	Process *self = data;

	g_array_unref(self->changes);
	g_free(self);
}

LodeSampledPrograms *lode_sampled_programs_new(const char *const *only, bool is_alone)
{
	LodeSampledPrograms *self = g_new0(LodeSampledPrograms, 1);

	self->only = only;
	self->is_alone = is_alone;
	self->strings = g_string_chunk_new(4096);
	self->events = g_array_new(FALSE, FALSE, sizeof(Event));
	self->processes = g_hash_table_new_full(NULL, NULL, NULL, process_free);
	return self;
}

void lode_sampled_programs_free(LodeSampledPrograms *self)
{
	if (self == NULL)
		return;
	g_string_chunk_free(self->strings);
	g_array_unref(self->events);
	g_hash_table_unref(self->processes);
	g_free(self);
}

void lode_sampled_programs_note(
	LodeSampledPrograms *self, const LodePerfRecord *record, uint64_t time_ns)
{
	Event event = {
		.time_ns = time_ns,
		.pid = record->pid,
		.parent = record->parent_pid,
		.order = self->events->len,
	};

	if (record->kind == LODE_PERF_COMMAND && record->is_exec) {
		event.kind = BEGIN_EXEC;
		event.text = g_string_chunk_insert_const(self->strings, record->text);
	} else if (record->kind == LODE_PERF_FORK && record->pid != record->parent_pid) {
		event.kind = BEGIN_FORK;
	} else if (record->kind == LODE_PERF_MAPPING && record->mapping.path[0] == '/' &&
		   (record->mapping.protection & PROTECTION_EXECUTE) != 0) {
		event.kind = FIRST_CODE;
		event.text = g_string_chunk_insert_const(self->strings, record->mapping.path);
	} else {
		return;
	}
	g_array_append_val(self->events, event);
}

LODE_ORDER(compare_events, Event, LODE_ASCENDING(time_ns), LODE_ASCENDING(order))

static bool is_like(const char *glob, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	if (fnmatch(glob, strchr(glob, '/') != NULL ? path : name, 0) == 0)
		return true;
	/* A name that the kernel has cut. */
	return strlen(path) == NAME_BYTES && strlen(glob) > NAME_BYTES &&
	       strncmp(glob, path, NAME_BYTES) == 0;
}

static bool is_asked_for(const LodeSampledPrograms *self, const char *path)
{
	for (const char *const *glob = self->only; glob != NULL && *glob != NULL; glob++)
		if (is_like(*glob, path))
			return true;
	return self->only == NULL;
}

static Process *process_at(LodeSampledPrograms *self, uint32_t pid)
{
	Process *found = g_hash_table_lookup(self->processes, GUINT_TO_POINTER(pid));

	if (found != NULL)
		return found;
	found = g_new0(Process, 1);
	found->changes = g_array_new(FALSE, FALSE, sizeof(Change));
	g_hash_table_insert(self->processes, GUINT_TO_POINTER(pid), found);
	return found;
}

static void change(LodeSampledPrograms *self, const Event *event, bool is_wanted)
{
	const Change added = {event->time_ns, is_wanted};

	g_array_append_val(process_at(self, event->pid)->changes, added);
}

static void begin_program(LodeSampledPrograms *self, const Event *event)
{
	bool is_wanted = is_asked_for(self, event->text) && !(self->is_alone && self->has_program);

	self->has_program = true;
	change(self, event, is_wanted);
	process_at(self, event->pid)->awaits_code = !self->is_alone;
}

static void note_code(LodeSampledPrograms *self, const Event *event)
{
	Process *process = process_at(self, event->pid);

	if (!process->awaits_code || process->changes->len == 0)
		return;
	process->awaits_code = false;
	if (is_asked_for(self, event->text))
		g_array_index(process->changes, Change, process->changes->len - 1).is_wanted = true;
}

void lode_sampled_programs_freeze(LodeSampledPrograms *self)
{
	g_array_sort(self->events, compare_events);
	for (guint i = 0; i < self->events->len; i++) {
		const Event *event = &g_array_index(self->events, Event, i);
		if (event->kind == BEGIN_EXEC)
			begin_program(self, event);
		else if (event->kind == FIRST_CODE)
			note_code(self, event);
		else
			change(self, event,
				!self->is_alone && lode_sampled_programs_are_wanted(
							   self, event->parent, event->time_ns));
	}
	g_array_set_size(self->events, 0);
}

bool lode_sampled_programs_are_wanted(
	const LodeSampledPrograms *self, uint32_t pid, uint64_t time_ns)
{
	const Process *process = g_hash_table_lookup(self->processes, GUINT_TO_POINTER(pid));

	if (process == NULL)
		return false;
	const Change *changes = (const Change *)process->changes->data;
	guint n = LODE_PARTITION_POINT(process->changes->len, i, changes[i].time_ns <= time_ns);
	return n > 0 && changes[n - 1].is_wanted;
}
