/* SPDX-License-Identifier: MIT */
#include "views/export/stack_export.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/figures/event_values.h"
#include "views/form/display_text.h"

#include <stdlib.h>
#include <string.h>

const char *lode_stack_export_function_file(
	const LodeProfile *profile, const LodeFunction *function)
{
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = lode_profile_instruction(profile, function->first_instruction + i)
		                      ->location;
		const LodeLocation *location = at != LODE_NONE ? &LODE_AT(profile->code.locations,
									 LodeLocation, at)
		                                               : NULL;
		if (location != NULL && location->file != NULL && location->inlined == NULL)
			return location->file;
	}
	return NULL;
}

static uint32_t add_stack(LodeStacks *stacks, const LodeFrame *frame, uint32_t outer)
{
	const LodeStack stack = {stacks->frames->len, outer};

	g_array_append_val(stacks->frames, *frame);
	g_array_append_val(stacks->stacks, stack);
	return stacks->stacks->len - 1;
}

/* A stack for an instruction alone: what is inlined there is a frame in that of its function, of
 * which the line of the call is not known. */
static uint32_t add_instruction(
	LodeStacks *stacks, const LodeProfile *profile, uint32_t index, const char *function_file)
{
	const LodeInstruction *instruction = lode_profile_instruction(profile, index);
	const LodeFunction *function = lode_profile_function(profile, instruction->function);
	const LodeLocation *location = instruction->location != LODE_NONE
	                                       ? &LODE_AT(profile->code.locations, LodeLocation,
							 instruction->location)
	                                       : NULL;
	LodeFrame frame = {
		.function = function->name,
		.image = lode_profile_image(profile, function->image)->path,
		.file = location != NULL ? location->file : NULL,
		.line = location != NULL ? location->line : 0,
		.address = instruction->address,
	};
	uint32_t outer = LODE_NONE;

	if (location != NULL && location->inlined != NULL) {
		LodeFrame around = frame;
		around.file = (char *)function_file;
		around.line = 0;
		outer = add_stack(stacks, &around, LODE_NONE);
		frame.function = location->inlined;
		frame.is_inlined = true;
	}
	return add_stack(stacks, &frame, outer);
}

static LodeStacks *make_stacks(const LodeProfile *profile)
{
	LodeStacks *self = lode_stacks_new();
	const LodeStackThread thread = {profile->run.program, 0, 0};
	const LodeFunction *function = NULL;
	const char *file = NULL;

	g_array_append_val(self->threads, thread);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeFunction *of = lode_profile_function(
			profile, lode_profile_instruction(profile, i)->function);
		uint32_t stack = LODE_NONE;
		if (of != function)
			file = lode_stack_export_function_file(profile, of);
		function = of;
		for (uint32_t event = 0; event < profile->code.events->len; event++) {
			double value = lode_profile_event_value(profile, event, i);
			bool is_wanted = event == profile->code.weight_event ||
			                 lode_profile_event(profile, event)->kind !=
			                         LODE_EVENT_DERIVED;
			if (!is_wanted || value <= 0)
				continue;
			if (stack == LODE_NONE)
				stack = add_instruction(self, profile, i, file);
			const LodeStackSample sample = {
				.weight = value, .event = event, .stack = stack};
			g_array_append_val(self->samples, sample);
		}
	}
	return self;
}

static char *list_events(const LodeStackExport *self)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < self->events->len; i++)
		g_ptr_array_add(names,
			lode_profile_event(self->profile, g_array_index(self->events, uint32_t, i))
				->name);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(", ", (char **)names->pdata);
}

/* Stacks are of where a sample was taken. */
static uint32_t as_sampled(const LodeStackExport *self, uint32_t event)
{
	uint32_t sampled = self->made == NULL ? lode_profile_event_as_sampled(self->profile, event)
	                                      : LODE_NONE;

	return sampled != LODE_NONE ? sampled : event;
}

/* Chooses the requested event; else the profile's; else the one with most samples. */
static bool choose_weight(
	LodeStackExport *self, uint32_t wanted, const uint32_t *counts, GError **error)
{
	const LodeProfile *profile = self->profile;
	uint32_t usual = as_sampled(self, profile->code.weight_event);

	wanted = wanted != LODE_NONE ? as_sampled(self, wanted) : LODE_NONE;
	self->weight = wanted;
	if (wanted != LODE_NONE && counts[wanted] == 0 && self->events->len > 0) {
		g_autofree char *names = list_events(self);
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no call stack was recorded with '%s'; there are those of: %s",
			lode_profile_event(profile, wanted)->name, names);
		return false;
	}
	if (wanted == LODE_NONE) {
		for (guint i = 0; i < self->events->len; i++) {
			uint32_t event = g_array_index(self->events, uint32_t, i);
			if (self->weight == LODE_NONE || counts[event] > counts[self->weight])
				self->weight = event;
		}
		if (self->weight == LODE_NONE || counts[usual] > 0)
			self->weight = usual;
	}
	return true;
}

static bool init(LodeStackExport *self, const LodeProfile *profile, LodeStacks *made,
	uint32_t weight, GError **error)
{
	g_autofree uint32_t *counts = g_new0(uint32_t, MAX(profile->code.events->len, 1));

	*self = (LodeStackExport){.profile = profile,
		.made = made,
		.stacks = made != NULL ? made : profile->stacks,
		.events = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
	for (guint i = 0; i < self->stacks->samples->len; i++)
		counts[g_array_index(self->stacks->samples, LodeStackSample, i).event]++;
	for (uint32_t i = 0; i < profile->code.events->len; i++)
		if (counts[i] > 0)
			g_array_append_val(self->events, i);
	return choose_weight(self, weight, counts, error);
}

bool lode_stack_export_init(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error)
{
	bool has_calls = profile->stacks != NULL && profile->stacks->has_chains;

	return init(self, profile, has_calls ? NULL : make_stacks(profile), weight, error);
}

bool lode_stack_export_init_recorded(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error)
{
	return init(self, profile, NULL, weight, error);
}

bool lode_stack_export_init_samples(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error)
{
	/* The samples are gone through for each thread. */
	const uint64_t most_steps = UINT64_C(1) << 32;
	const LodeStacks *stacks = profile->stacks;

	if (stacks != NULL && (uint64_t)stacks->samples->len * stacks->threads->len <= most_steps &&
		lode_stack_export_init_recorded(self, profile, weight, NULL))
		return true;
	lode_stack_export_clear(self);
	return lode_stack_export_init(self, profile, weight, error);
}

void lode_stack_export_clear(LodeStackExport *self)
{
	lode_stacks_free(self->made);
	if (self->events != NULL)
		g_array_unref(self->events);
	*self = (LodeStackExport){0};
}

LODE_ORDER_OF_POINTERS(
	compare_samples, LodeStackSample, LODE_ASCENDING(thread), LODE_ASCENDING(stack))

LODE_ORDER_OF_POINTERS(compare_order, LodeStackSample, compare_samples(&left, &right),
	(left > right) - (left < right))

/* By thread and stack, then as they were recorded: sums have the same last digits each time. */
static const LodeStackSample **sort_samples(const LodeStackExport *self)
{
	guint n = self->stacks->samples->len;
	const LodeStackSample **order = g_new(const LodeStackSample *, MAX(n, 1));

	for (guint i = 0; i < n; i++)
		order[i] = &g_array_index(self->stacks->samples, LodeStackSample, i);
	if (n > 1)
		qsort(order, n, sizeof(*order), compare_order);
	return order;
}

GArray *lode_stack_export_sums(const LodeStackExport *self, double **out_values)
{
	GArray *sums = g_array_new(FALSE, FALSE, sizeof(LodeStackSum));
	guint n = self->stacks->samples->len, n_events = self->events->len;
	g_autofree const LodeStackSample **order = sort_samples(self);
	g_autofree guint *columns = g_new0(guint, MAX(self->profile->code.events->len, 1));

	for (guint i = 0; i < n_events; i++)
		columns[g_array_index(self->events, uint32_t, i)] = i;
	for (guint i = 0; i < n; i++) {
		const LodeStackSum sum = {order[i]->thread, order[i]->stack, NULL};
		if (i == 0 || compare_samples(&order[i - 1], &order[i]) != 0)
			g_array_append_val(sums, sum);
	}
	*out_values = g_new0(double, MAX((size_t)sums->len * n_events, 1));
	for (guint i = 0, row = 0; i < n; i++) {
		if (i > 0 && compare_samples(&order[i - 1], &order[i]) != 0)
			row++;
		double *values = *out_values + (size_t)row * n_events;
		g_array_index(sums, LodeStackSum, row).values = values;
		values[columns[order[i]->event]] += order[i]->weight;
	}
	return sums;
}

char *lode_stack_export_text(const char *text)
{
	GString *harmless = g_string_new(NULL);

	lode_display_append_whole(harmless, text, strlen(text));
	return g_string_free(harmless, FALSE);
}

const char *lode_stack_export_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

char *lode_stack_export_frame_name(const LodeFrame *frame)
{
	if (frame->function != NULL)
		return g_strdup(frame->function);
	if (frame->image == NULL)
		return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", frame->address);
	return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x",
		lode_stack_export_file_name(frame->image), frame->address);
}

bool lode_stack_export_is_time(const LodeProfile *profile, uint32_t event)
{
	return strcmp(lode_event_value_unit(profile, event), "ns") == 0;
}
