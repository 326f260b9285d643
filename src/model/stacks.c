/* SPDX-License-Identifier: MIT */
#include "model/stacks.h"

#include "model/profile.h"

LodeStacks *lode_stacks_of(const LodeProfile *profile)
{
	return profile->stacks;
}

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

LodeStackSpan lode_stacks_span(const LodeStacks *self)
{
	uint64_t first_ns = 0, last_ns = 0;

	for (guint i = 0; i < self->samples->len; i++) {
		uint64_t time_ns = g_array_index(self->samples, LodeStackSample, i).time_ns;
		if (time_ns != 0 && (first_ns == 0 || time_ns < first_ns))
			first_ns = time_ns;
		last_ns = MAX(last_ns, time_ns);
	}
	return (LodeStackSpan){first_ns, last_ns - first_ns};
}
