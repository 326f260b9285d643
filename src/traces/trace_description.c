/* SPDX-License-Identifier: MIT */
/* The description of an address trace. */
#include "traces/trace_description.h"

LodeTraceDescription *lode_trace_description_new(void)
{
	LodeTraceDescription *self = g_new0(LodeTraceDescription, 1);

	self->strings = g_string_chunk_new(1024);
	self->mappings = g_array_new(FALSE, TRUE, sizeof(LodeTraceMapping));
	self->threads = g_array_new(FALSE, TRUE, sizeof(LodeTraceThread));
	self->totals = g_array_new(FALSE, TRUE, sizeof(LodeTraceTotal));
	return self;
}

void lode_trace_description_free(LodeTraceDescription *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->mappings);
	g_array_unref(self->threads);
	g_array_unref(self->totals);
	g_string_chunk_free(self->strings);
	g_free(self);
}

char *lode_trace_description_intern(LodeTraceDescription *self, const char *text)
{
	return text != NULL ? g_string_chunk_insert_const(self->strings, text) : NULL;
}

LodeTraceDescription *lode_trace_description_copy(const LodeTraceDescription *self)
{
	LodeTraceDescription *copy = lode_trace_description_new();

	copy->command = lode_trace_description_intern(copy, self->command);
	copy->tool = lode_trace_description_intern(copy, self->tool);
	copy->build = lode_trace_description_intern(copy, self->build);
	copy->allocations = lode_trace_description_intern(copy, self->allocations);
	copy->is_partial = self->is_partial;
	for (guint i = 0; i < self->mappings->len; i++) {
		LodeTraceMapping mapping = g_array_index(self->mappings, LodeTraceMapping, i);
		mapping.path = lode_trace_description_intern(copy, mapping.path);
		mapping.build_id = lode_trace_description_intern(copy, mapping.build_id);
		g_array_append_val(copy->mappings, mapping);
	}
	for (guint i = 0; i < self->threads->len; i++) {
		LodeTraceThread thread = g_array_index(self->threads, LodeTraceThread, i);
		thread.name = lode_trace_description_intern(copy, thread.name);
		g_array_append_val(copy->threads, thread);
	}
	for (guint i = 0; i < self->totals->len; i++) {
		LodeTraceTotal total = g_array_index(self->totals, LodeTraceTotal, i);
		total.name = lode_trace_description_intern(copy, total.name);
		g_array_append_val(copy->totals, total);
	}
	return copy;
}
