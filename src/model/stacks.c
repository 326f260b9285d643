/* SPDX-License-Identifier: MIT */
#include "model/stacks.h"

LodeStacks *lode_stacks_new(void)
{
	LodeStacks *self = g_new0(LodeStacks, 1);

	self->frames = g_array_new(FALSE, TRUE, sizeof(LodeFrame));
	self->stacks = g_array_new(FALSE, TRUE, sizeof(LodeStack));
	self->instructions = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->threads = g_array_new(FALSE, TRUE, sizeof(LodeStackThread));
	self->samples = g_array_new(FALSE, TRUE, sizeof(LodeStackSample));
	self->has_chains = true;
	return self;
}

void lode_stacks_free(LodeStacks *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->frames);
	g_array_unref(self->stacks);
	g_array_unref(self->instructions);
	g_array_unref(self->threads);
	g_array_unref(self->samples);
	g_free(self);
}
