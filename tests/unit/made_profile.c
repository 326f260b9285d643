/* SPDX-License-Identifier: MIT */
#include "made_profile.h"

LodeProfile *made_profile(const char *event, LodeEventKind kind, const char *path)
{
	LodeProfile *self = lode_profile_new();

	self->code.weight_event = lode_profile_add_event(self, event, NULL, kind, NULL, 0);
	made_image(self, path);
	return self;
}

uint32_t made_image(LodeProfile *self, const char *path)
{
	const LodeImage image = {.path = lode_profile_intern(self, path)};

	g_array_append_val(self->code.images, image);
	return self->code.images->len - 1;
}

uint32_t made_function(LodeProfile *self, LodeFunction row)
{
	row.name = lode_profile_intern(self, row.name);
	row.symbol = lode_profile_intern(self, row.symbol);
	row.first_instruction = self->code.instructions->len;
	row.first_block = self->code.blocks->len;
	g_array_append_val(self->code.functions, row);
	return self->code.functions->len - 1;
}

uint32_t made_small_function(LodeProfile *self, const char *name, double weight)
{
	uint64_t address = 16 * (self->code.functions->len + 1);
	uint32_t function = made_function(self, (LodeFunction){.name = (char *)name,
							.image = self->code.images->len - 1,
							.address = address,
							.size = 16});

	made_instruction(self, (LodeInstruction){.address = address, .size = 16}, NULL, weight);
	return function;
}

static LodeFunction *last_function(LodeProfile *self)
{
	return lode_profile_function(self, self->code.functions->len - 1);
}

uint32_t made_block(LodeProfile *self, LodeBlock row)
{
	row.function = self->code.functions->len - 1;
	last_function(self)->n_blocks++;
	g_array_append_val(self->code.blocks, row);
	return self->code.blocks->len - 1;
}

static uint32_t set_of(LodeProfile *self, const char *attributes)
{
	g_auto(GStrv) names = g_strsplit(attributes != NULL ? attributes : "", " ", -1);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (char **name = names; *name != NULL; name++) {
		uint32_t id = lode_profile_attribute(self, *name);
		g_array_append_val(ids, id);
	}
	return lode_profile_attribute_set(self, (const uint32_t *)(void *)ids->data, ids->len);
}

uint32_t made_instruction(
	LodeProfile *self, LodeInstruction row, const char *attributes, double weight)
{
	LodeFunction *function = last_function(self);

	row.function = self->code.functions->len - 1;
	row.block = function->n_blocks > 0 ? self->code.blocks->len - 1 : LODE_NONE;
	row.attribute_set = set_of(self, attributes);
	row.location = LODE_NONE;
	row.next_count = -1;
	function->n_instructions++;
	g_array_append_val(self->code.instructions, row);
	g_array_append_val(self->code.cost_starts, self->code.costs->len);
	if (weight != 0)
		made_cost(self, self->code.weight_event, weight);
	return self->code.instructions->len - 1;
}

void made_cost(LodeProfile *self, uint32_t event, double value)
{
	const LodeCost cost = {event, value};

	g_array_append_val(self->code.costs, cost);
	LODE_AT(self->code.cost_starts, uint32_t,
		self->code.instructions->len) = self->code.costs->len;
}

void made_fall(LodeProfile *self, uint32_t instruction, double count)
{
	lode_profile_instruction(self, instruction)->next_count = count;
}

void made_line(LodeProfile *self, const char *file, uint32_t line, const char *inlined)
{
	lode_profile_instruction(self, self->code.instructions->len - 1)->location =
		lode_profile_location(self, file, line, inlined);
}

void made_edge(LodeProfile *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	const LodeEdge edge = {source, target, kind, count};

	g_array_append_val(self->code.edges, edge);
}

LodeFrame made_frame(const LodeProfile *self, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self, function);

	return (LodeFrame){.function = row->name,
		.image = lode_profile_image(self, row->image)->path,
		.address = row->address};
}

uint32_t made_stack(LodeProfile *self, LodeFrame frame, uint32_t outer)
{
	if (self->stacks == NULL)
		self->stacks = lode_stacks_new();

	const LodeStack stack = {self->stacks->frames->len, outer};
	frame.function = lode_profile_intern(self, frame.function);
	frame.image = lode_profile_intern(self, frame.image);
	frame.file = lode_profile_intern(self, frame.file);
	g_array_append_val(self->stacks->frames, frame);
	g_array_append_val(self->stacks->stacks, stack);
	return self->stacks->stacks->len - 1;
}

void made_sample(LodeProfile *self, uint32_t stack, double weight)
{
	const LodeStackSample sample = {
		.event = self->code.weight_event, .weight = weight, .stack = stack};

	g_array_append_val(self->stacks->samples, sample);
}

void made_wait(LodeProfile *self, LodeWait row, double low, double high)
{
	const LodeWaitCause cause = {.high_ns = high, .low_ns = low};

	if (self->waits == NULL)
		self->waits = lode_waits_new();
	row.call = lode_profile_intern(self, row.call);
	row.object = lode_profile_intern(self, row.object);
	row.thread_name = lode_profile_intern(self, row.thread_name);
	row.holder_call = lode_profile_intern(self, row.holder_call);
	row.cause = LODE_NONE;
	if (high > 0) {
		row.cause = self->waits->causes->len;
		g_array_append_val(self->waits->causes, cause);
	}
	self->waits->waiting_ns += row.waiting_ns;
	self->waits->seen_ns += row.reason != LODE_WAIT_UNSEEN ? row.waiting_ns : 0;
	g_array_append_val(self->waits->rows, row);
}
