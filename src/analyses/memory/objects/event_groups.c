/* SPDX-License-Identifier: MIT */
/* An event added up by what the program is made of. */
#include "analyses/memory/objects/event_groups.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/memory.h"

#include <string.h>

static const char *const by_words[LODE_N_EVENT_BYS] = {
	[LODE_EVENT_BY_INSTRUCTION] = "instruction",
	[LODE_EVENT_BY_FUNCTION] = "function",
	[LODE_EVENT_BY_LINE] = "line",
	[LODE_EVENT_BY_OBJECT] = "object",
	[LODE_EVENT_BY_THREAD] = "thread",
};

const char *lode_event_by_to_text(LodeEventBy value)
{
	return by_words[value];
}

bool lode_event_by_is_of_data(LodeEventBy by)
{
	return by == LODE_EVENT_BY_OBJECT || by == LODE_EVENT_BY_THREAD;
}

typedef struct {
	const LodeProfile *profile;
	LodeEventGroups *result;
	GHashTable *indexes; /* name → index + 1; the group's own name */
} Grouping;

static LodeEventGroup *group_of(Grouping *self, const char *name)
{
	GArray *groups = self->result->groups;
	guint index = GPOINTER_TO_UINT(g_hash_table_lookup(self->indexes, name));

	if (index == 0) {
		LodeEventGroup group = {.name = g_strdup(name)};
		g_array_append_val(groups, group);
		index = groups->len;
		g_hash_table_insert(self->indexes, group.name, GUINT_TO_POINTER(index));
	}
	return &g_array_index(groups, LodeEventGroup, index - 1);
}

/* "list.c:21"; NULL where it is not known. */
static char *line_name(const LodeProfile *profile, uint32_t location)
{
	const LodeCode *code = lode_code_of(profile);

	if (location >= code->locations->len)
		return NULL;
	const LodeLocation *row = &LODE_AT(code->locations, LodeLocation, location);
	return row->file != NULL ? g_strdup_printf("%s:%u", row->file, row->line) : NULL;
}

static char *image_name(const LodeProfile *profile, const LodeFunction *function)
{
	return g_path_get_basename(lode_profile_image(profile, function->image)->path);
}

static char *function_name(const LodeProfile *profile, const LodeInstruction *row)
{
	const LodeFunction *function = lode_profile_function(profile, row->function);
	g_autofree char *image = image_name(profile, function);

	return g_strdup_printf("%s (%s)", function->name, image);
}

static char *instruction_name(
	const LodeProfile *profile, const LodeInstruction *row, uint32_t location)
{
	const LodeFunction *function = lode_profile_function(profile, row->function);
	g_autofree char *line = line_name(profile, location);
	g_autofree char *image = image_name(profile, function);

	return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x (%s)%s%s", function->name,
		row->address - function->address, image, line != NULL ? " " : "",
		line != NULL ? line : "");
}

static char *code_name(const Grouping *self, const LodeInstruction *row, uint32_t location)
{
	if (self->result->by == LODE_EVENT_BY_FUNCTION)
		return function_name(self->profile, row);
	if (self->result->by == LODE_EVENT_BY_INSTRUCTION)
		return instruction_name(self->profile, row, location);
	char *line = line_name(self->profile, location);
	return line != NULL ? line : g_strdup("(no line known)");
}

static void group_code(Grouping *self)
{
	const GArray *instructions = lode_code_of(self->profile)->instructions;
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(self->profile, NULL);

	for (uint32_t i = 0; i < instructions->len; i++) {
		const LodeInstruction *row = &LODE_AT(instructions, LodeInstruction, i);
		double value = lode_profile_event_value(self->profile, self->result->event, i);

		if (value <= 0)
			continue;
		g_autofree char *name = code_name(self, row, lode_own_lines_find(own, i));
		LodeEventGroup *group = group_of(self, name);
		group->value += value;
		group->executions = MAX(group->executions, row->count);
	}
}

static const char *object_name(const LodeProfile *profile, const LodeMemorySample *sample)
{
	const char *name = lode_memory_object_name(lode_memory_of(profile), sample->object);

	return name != NULL ? name : "(no object known)";
}

/* "2 worker", by the order in which they began. */
static char *thread_name(const LodeProfile *profile, const LodeMemorySample *sample)
{
	const GArray *threads = lode_memory_of(profile)->threads;

	if (sample->thread >= threads->len)
		return g_strdup("(no thread known)");
	const LodeThread *thread = &LODE_AT(threads, LodeThread, sample->thread);
	return g_strdup_printf("%u%s%s", thread->ordinal, thread->name != NULL ? " " : "",
		thread->name != NULL ? thread->name : "");
}

static void group_data(Grouping *self)
{
	const GArray *samples = lode_memory_of(self->profile)->samples;

	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);

		if (sample->event != self->result->event)
			continue;
		g_autofree char *name = self->result->by == LODE_EVENT_BY_THREAD
		                                ? thread_name(self->profile, sample)
		                                : g_strdup(object_name(self->profile, sample));
		LodeEventGroup *group = group_of(self, name);
		group->value += sample->weight;
		if (sample->access == LODE_ACCESS_STORE)
			group->stores += sample->weight;
		else
			group->loads += sample->weight;
	}
}

LODE_ORDER(largest_first, LodeEventGroup, LODE_DESCENDING(value), strcmp(left->name, right->name))

static void clear_group(void *group)
{
	g_free(((LodeEventGroup *)group)->name);
}

bool lode_event_groups_are_known(const LodeProfile *profile, uint32_t event, LodeEventBy by)
{
	const LodeMemory *memory = lode_memory_of(profile);
	const GArray *samples = memory != NULL ? memory->samples : NULL;

	if (!lode_event_by_is_of_data(by))
		return true;
	for (guint i = 0; samples != NULL && i < samples->len; i++)
		if (LODE_AT(samples, LodeMemorySample, i).event == event)
			return true;
	return false;
}

LodeEventGroups *lode_event_groups_new(const LodeProfile *profile, uint32_t event, LodeEventBy by)
{
	LodeEventGroups *self = g_new0(LodeEventGroups, 1);
	g_autoptr(GHashTable) indexes = g_hash_table_new(g_str_hash, g_str_equal);
	Grouping grouping = {profile, self, indexes};

	self->by = by;
	self->event = event;
	self->total = lode_profile_event(profile, event)->total;
	self->groups = g_array_new(FALSE, FALSE, sizeof(LodeEventGroup));
	g_array_set_clear_func(self->groups, clear_group);
	if (lode_event_by_is_of_data(by))
		group_data(&grouping);
	else
		group_code(&grouping);
	g_array_sort(self->groups, largest_first);
	for (guint i = 0; i < self->groups->len; i++)
		self->grouped += g_array_index(self->groups, LodeEventGroup, i).value;
	return self;
}

void lode_event_groups_free(LodeEventGroups *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->groups);
	g_free(self);
}
