/* SPDX-License-Identifier: MIT */
#include "called_profile.h"

#include "model/stacks.h"

LodeProfile *called_profile_new(const CalledFunction *functions, guint n)
{
	LodeProfile *self = lode_profile_new();
	const uint32_t no_attribute = 0;

	self->weight_event = lode_profile_add_event(
		self, "clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	for (guint i = 0; i < n; i++) {
		const CalledFunction *one = &functions[i];
		const LodeImage image = {.path = lode_profile_intern(self, one->image)};
		const LodeFunction function = {.name = lode_profile_intern(self, one->name),
			.image = i,
			.address = 16,
			.size = 16,
			.first_instruction = i,
			.n_instructions = 1};
		const LodeInstruction instruction = {.address = 16,
			.next_count = -1,
			.function = i,
			.block = LODE_NONE,
			.attribute_set = lode_profile_attribute_set(self, &no_attribute, 0),
			.location = one->file != NULL ? lode_profile_location(
								self, one->file, one->line, NULL)
		                                      : LODE_NONE};
		g_array_append_val(self->images, image);
		g_array_append_val(self->functions, function);
		g_array_append_val(self->instructions, instruction);
	}
	g_array_set_size(self->cost_starts, 0);
	g_array_set_size(self->cost_starts, n + 1);
	return self;
}

uint32_t add_stack(LodeProfile *self, uint32_t function, uint32_t line, uint32_t outer)
{
	uint32_t location = lode_profile_instruction(self, function)->location;
	bool has_lines = location != LODE_NONE;
	const LodeFrame frame = {.function = lode_profile_function(self, function)->name,
		.image = lode_profile_image(self, function)->path,
		.file = has_lines ? LODE_AT(self->locations, LodeLocation, location).file : NULL,
		.line = has_lines ? line : 0};
	const LodeStack stack = {self->stacks->frames->len, outer};

	g_array_append_val(self->stacks->frames, frame);
	g_array_append_val(self->stacks->stacks, stack);
	return self->stacks->stacks->len - 1;
}

void add_samples(LodeProfile *self, uint32_t stack, guint n)
{
	const LodeStackSample sample = {.weight = 10 * n, .stack = stack, .n_more = n - 1};

	g_array_append_val(self->stacks->samples, sample);
	lode_profile_event(self, 0)->total += 10 * n;
	self->n_samples += n;
}
