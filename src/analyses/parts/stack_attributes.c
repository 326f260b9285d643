/* SPDX-License-Identifier: MIT */
#include "analyses/parts/stack_attributes.h"

#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

struct LodeStackAttributes {
	const LodeProfile *profile;
	const LodeStacks *stacks;
	uint64_t first_ns;
	LodeOwnLines *own;
	const char **commands; /* of each thread */
	const char **places;   /* of each location: "parse.c:120"; NULL: not yet asked for */
	GStringChunk *strings; /* owns the places */
};

/* A process's first thread stands before its others; numbers may be given again. */
static const char **find_commands(const LodeStacks *stacks)
{
	const char **commands = g_new0(const char *, stacks->threads->len + 1);
	g_autoptr(GHashTable) names = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < stacks->threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(stacks->threads, LodeStackThread, i);
		void *pid = GUINT_TO_POINTER(thread->pid);
		if (thread->tid == thread->pid)
			g_hash_table_insert(names, pid, thread->name);
		commands[i] = g_hash_table_lookup(names, pid);
		if (commands[i] == NULL)
			commands[i] = thread->name;
	}
	return commands;
}

LodeStackAttributes *lode_stack_attributes_new(const LodeProfile *profile)
{
	LodeStackAttributes *self = g_new0(LodeStackAttributes, 1);

	self->profile = profile;
	self->stacks = lode_stacks_of(profile);
	self->first_ns = lode_stacks_span(lode_stacks_of(profile)).first_ns;
	self->own = lode_own_lines_new(profile, NULL);
	self->commands = find_commands(lode_stacks_of(profile));
	self->strings = g_string_chunk_new(4096);
	self->places = g_new0(const char *, lode_code_of(profile)->locations->len + 1);
	return self;
}

void lode_stack_attributes_free(LodeStackAttributes *self)
{
	if (self == NULL)
		return;
	lode_own_lines_free(self->own);
	g_free(self->commands);
	g_free(self->places);
	g_string_chunk_free(self->strings);
	g_free(self);
}

uint64_t lode_stack_attributes_first_time(const LodeStackAttributes *self)
{
	return self->first_ns;
}

const char *lode_stack_attributes_command(const LodeStackAttributes *self, uint32_t thread)
{
	return self->commands[thread];
}

typedef const LodeStackAttributes *Self;
typedef const LodeStackSample *Sample;

static const LodeStackThread *thread_of(Self self, Sample sample)
{
	return &LODE_AT(self->stacks->threads, LodeStackThread, sample->thread);
}

static const LodeInstruction *instruction_of(Self self, Sample sample)
{
	uint32_t instruction = lode_stacks_instruction(self->stacks, sample->stack);

	return instruction != LODE_NONE ? lode_profile_instruction(self->profile, instruction)
	                                : NULL;
}

static const LodeFunction *function_of(Self self, Sample sample)
{
	const LodeInstruction *instruction = instruction_of(self, sample);

	return instruction != NULL ? lode_profile_function(self->profile, instruction->function)
	                           : NULL;
}

static uint32_t location_of(Self self, Sample sample)
{
	uint32_t instruction = lode_stacks_instruction(self->stacks, sample->stack);

	return instruction != LODE_NONE ? lode_own_lines_find(self->own, instruction) : LODE_NONE;
}

static LodeValue get_command(Self self, Sample sample)
{
	return lode_value_of_text(self->commands[sample->thread]);
}

static LodeValue get_event(Self self, Sample sample)
{
	return lode_value_of_text(lode_profile_event(self->profile, sample->event)->name);
}

static LodeValue get_file(Self self, Sample sample)
{
	uint32_t location = location_of(self, sample);

	return lode_value_of_text(
		location != LODE_NONE
			? LODE_AT(lode_code_of(self->profile)->locations, LodeLocation, location)
				  .file
			: NULL);
}

static LodeValue get_function(Self self, Sample sample)
{
	const LodeFunction *function = function_of(self, sample);

	return lode_value_of_text(function != NULL ? function->name : NULL);
}

static LodeValue get_image(Self self, Sample sample)
{
	const LodeFunction *function = function_of(self, sample);

	return lode_value_of_text(
		function != NULL ? lode_profile_image(self->profile, function->image)->path : NULL);
}

static LodeValue get_line(Self self, Sample sample)
{
	uint32_t location = location_of(self, sample);
	uint32_t line = location != LODE_NONE ? LODE_AT(lode_code_of(self->profile)->locations,
							LodeLocation, location)
	                                                .line
	                                      : 0;

	return line != 0 ? lode_value_of_integer(line) : lode_value_none();
}

static LodeValue get_pid(Self self, Sample sample)
{
	return lode_value_of_integer(thread_of(self, sample)->pid);
}

static LodeValue get_place(Self self, Sample sample)
{
	uint32_t id = location_of(self, sample);
	const LodeLocation *location = id != LODE_NONE
	                                       ? &LODE_AT(lode_code_of(self->profile)->locations,
							 LodeLocation, id)
	                                       : NULL;

	if (location == NULL || location->file == NULL || location->line == 0)
		return lode_value_none();
	if (self->places[id] == NULL) {
		g_autofree char *place = g_strdup_printf("%s:%u", location->file, location->line);
		self->places[id] = g_string_chunk_insert_const(self->strings, place);
	}
	return lode_value_of_text(self->places[id]);
}

static LodeValue get_thread(Self self, Sample sample)
{
	return lode_value_of_text(thread_of(self, sample)->name);
}

static LodeValue get_tid(Self self, Sample sample)
{
	return lode_value_of_integer(thread_of(self, sample)->tid);
}

static LodeValue get_time(Self self, Sample sample)
{
	if (sample->time_ns == 0)
		return lode_value_none();
	return lode_value_of_integer((LodeInteger)sample->time_ns - self->first_ns);
}

static LodeValue get_weight(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_real(sample->weight);
}

static const struct {
	LodeExpressionAttribute is;
	LodeValue (*value)(Self self, Sample sample);
} table[] = {
	{{"command", LODE_VALUE_TEXT, false, NULL}, get_command},
	{{"event", LODE_VALUE_TEXT, false, NULL}, get_event},
	{{"file", LODE_VALUE_TEXT, false, NULL}, get_file},
	{{"function", LODE_VALUE_TEXT, false, NULL}, get_function},
	{{"image", LODE_VALUE_TEXT, false, NULL}, get_image},
	{{"line", LODE_VALUE_INTEGER, false, "place"}, get_line},
	{{"pid", LODE_VALUE_INTEGER, false, NULL}, get_pid},
	{{"place", LODE_VALUE_TEXT, false, NULL}, get_place},
	{{"thread", LODE_VALUE_TEXT, false, NULL}, get_thread},
	{{"tid", LODE_VALUE_INTEGER, false, NULL}, get_tid},
	{{"time", LODE_VALUE_INTEGER, false, NULL}, get_time},
	{{"weight", LODE_VALUE_REAL, false, NULL}, get_weight},
};

static LodeExpressionAttribute attribute_at(size_t number)
{
	return table[number].is;
}

static LodeValue value_at(const void *attributes, size_t number, const void *sample)
{
	return table[number].value(attributes, sample);
}

const LodeExpressionSource lode_stack_attribute_source = {
	G_N_ELEMENTS(table), attribute_at, value_at};
