/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/process_commands.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

enum { MAX_EVENTS = 1 << 22, MAX_LOOKS = 1 << 18 };

typedef struct {
	uint64_t time_ns;
	uint32_t recording, pid;
	uint32_t look; /* LODE_NONE: it executed a program */
} Event;

struct LodeProcessCommands {
	GArray *events; /* Event */
	GArray *looks;  /* LodeCommandLook */
	GStringChunk *texts;
	bool is_sorted;
};

LODE_ORDER(compare_events, Event, LODE_ASCENDING(recording), LODE_ASCENDING(pid),
	LODE_ASCENDING(time_ns), LODE_DESCENDING(look))

LodeProcessCommands *lode_process_commands_new(void)
{
	LodeProcessCommands *self = g_new0(LodeProcessCommands, 1);

	self->events = g_array_new(FALSE, FALSE, sizeof(Event));
	self->looks = g_array_new(FALSE, FALSE, sizeof(LodeCommandLook));
	self->texts = g_string_chunk_new(4096);
	return self;
}

void lode_process_commands_free(LodeProcessCommands *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->events);
	g_array_unref(self->looks);
	g_string_chunk_free(self->texts);
	g_free(self);
}

static void add_event(LodeProcessCommands *self, Event event)
{
	if (self->events->len >= MAX_EVENTS)
		return;
	g_array_append_val(self->events, event);
	self->is_sorted = false;
}

void lode_process_commands_note_look(LodeProcessCommands *self, uint32_t recording, uint32_t pid,
	uint64_t time_ns, const LodeCommandLook *look)
{
	const LodeCommandLook kept = {look->flags, look->environment,
		g_string_chunk_insert_const(self->texts, look->command),
		g_string_chunk_insert_const(self->texts, look->directory),
		g_string_chunk_insert_const(self->texts, look->input),
		g_string_chunk_insert_const(self->texts, look->output)};

	if (self->looks->len >= MAX_LOOKS)
		return;
	add_event(self, (Event){time_ns, recording, pid, self->looks->len});
	g_array_append_val(self->looks, kept);
}

void lode_process_commands_note(LodeProcessCommands *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns)
{
	if (record->kind == LODE_PERF_COMMAND && record->is_exec)
		add_event(self, (Event){time_ns, recording, record->pid, LODE_NONE});
}

static bool is_before(const Event *event, const Event *than)
{
	return compare_events(event, than) < 0;
}

LodeProcessCommand lode_process_commands_find(LodeProcessCommands *self, uint32_t recording,
	uint32_t pid, uint64_t begin_ns, uint64_t end_ns)
{
	const Event from = {begin_ns, recording, pid, LODE_NONE};
	LodeProcessCommand found = {0};

	if (!self->is_sorted)
		g_array_sort(self->events, compare_events);
	self->is_sorted = true;
	guint i = LODE_PARTITION_POINT(
		self->events->len, k, is_before(&g_array_index(self->events, Event, k), &from));
	for (; i < self->events->len; i++) {
		const Event *event = &g_array_index(self->events, Event, i);
		if (event->recording != recording || event->pid != pid || event->time_ns > end_ns)
			break;
		found.has_executed |= event->look == LODE_NONE;
		found.look = event->look != LODE_NONE
		                     ? &g_array_index(self->looks, LodeCommandLook, event->look)
		                     : NULL;
	}
	return found;
}
