/* SPDX-License-Identifier: MIT */
/* What names an address trace. */
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
