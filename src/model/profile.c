/* SPDX-License-Identifier: MIT */
#include "model/profile.h"

#include "model/memory.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/process.h"
#include "model/run/origins.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"
#include "model/waits.h"

/* lode_code_of() */
G_STATIC_ASSERT(offsetof(LodeProfile, code) == 0);

LodeProfile *lode_profile_new(void)
{
	LodeProfile *self = g_new0(LodeProfile, 1);

	lode_code_init(&self->code);
	self->strings = g_string_chunk_new(1 << 16);
	self->unresolved = g_array_new(FALSE, TRUE, sizeof(LodeUnresolved));
	self->loops = g_array_new(FALSE, TRUE, sizeof(LodeLoop));
	self->thread_times = g_array_new(FALSE, TRUE, sizeof(LodeThreadTime));
	self->origins = g_array_new(FALSE, TRUE, sizeof(LodeOrigin));
	return self;
}

void lode_profile_free(LodeProfile *self)
{
	if (self == NULL)
		return;
	lode_memory_free(self->memory);
	lode_stacks_free(self->stacks);
	lode_waits_free(self->waits);
	lode_windows_free(self->windows);
	lode_origin_parts_free(self->origin_parts);
	g_array_unref(self->loops);
	g_array_unref(self->thread_times);
	g_array_unref(self->origins);
	g_array_unref(self->unresolved);
	lode_code_clear(&self->code);
	g_string_chunk_free(self->strings);
	g_free(self);
}

char *lode_profile_intern(LodeProfile *self, const char *text)
{
	return text != NULL ? g_string_chunk_insert_const(self->strings, text) : NULL;
}
