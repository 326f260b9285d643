/* SPDX-License-Identifier: MIT */
#include "sources/recording.h"

#include <sys/mman.h>

LodeRecording *lode_recording_new(void)
{
	LodeRecording *self = g_new0(LodeRecording, 1);

	self->strings = g_string_chunk_new(1 << 16);
	self->events = g_ptr_array_new();
	self->totals = g_array_new(FALSE, TRUE, sizeof(double));
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeRecordedObject));
	self->pids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->names = g_ptr_array_new();
	return self;
}

void lode_recording_free(LodeRecording *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->events, g_ptr_array_unref);
	g_clear_pointer(&self->totals, g_array_unref);
	g_clear_pointer(&self->objects, g_array_unref);
	g_clear_pointer(&self->pids, g_array_unref);
	g_clear_pointer(&self->names, g_ptr_array_unref);
	if (self->values_room == 0)
		g_free(self->values);
	else if (self->values != NULL)
		munmap(self->values, self->values_room);
	g_clear_pointer(&self->instructions, g_array_unref);
	g_clear_pointer(&self->jumps, g_array_unref);
	g_clear_pointer(&self->calls, g_array_unref);
	g_clear_pointer(&self->strings, g_string_chunk_free);
	g_free(self);
}
