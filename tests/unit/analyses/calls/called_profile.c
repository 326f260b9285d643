/* SPDX-License-Identifier: MIT */
#include "called_profile.h"

#include "made_profile.h"

LodeProfile *called_profile_new(const CalledFunction *functions, guint n)
{
	LodeProfile *self = lode_profile_new();

	self->code.weight_event = lode_profile_add_event(
		self, "clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	for (guint i = 0; i < n; i++) {
		made_image(self, functions[i].image);
		made_function(self, (LodeFunction){.name = (char *)functions[i].name,
					    .image = i,
					    .address = 16,
					    .size = 16});
		made_instruction(self, (LodeInstruction){.address = 16}, NULL, 0);
		if (functions[i].file != NULL)
			made_line(self, functions[i].file, functions[i].line, NULL);
	}
	return self;
}

uint32_t add_stack(LodeProfile *self, uint32_t function, uint32_t line, uint32_t outer)
{
	uint32_t location = lode_profile_instruction(self, function)->location;
	LodeFrame frame = made_frame(self, function);

	frame.address = 0;
	if (location != LODE_NONE) {
		frame.file = LODE_AT(self->code.locations, LodeLocation, location).file;
		frame.line = line;
	}
	return made_stack(self, frame, outer);
}

void add_samples(LodeProfile *self, uint32_t stack, guint n)
{
	const LodeStackSample sample = {.weight = 10 * n, .stack = stack, .n_more = n - 1};

	g_array_append_val(self->stacks->samples, sample);
	lode_profile_event(self, 0)->total += 10 * n;
	self->run.n_samples += n;
}
