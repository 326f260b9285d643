/* SPDX-License-Identifier: MIT */
#include "profile_sums.h"

#include "model/causes.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

double sum_of_event(const LodeProfile *profile, uint32_t event)
{
	double sum = 0;

	for (guint i = 0; i < profile->code.instructions->len; i++)
		sum += lode_profile_event_value(profile, event, i);
	return sum;
}

/* Reasons with places are of instructions, but for samples that no counted one takes. */
static bool is_of_no_instruction(const LodeUnresolved *row)
{
	return row->places == 0 || strcmp(row->reason, LODE_UNRESOLVED_UNCOUNTED) == 0;
}

void check_weight_is_whole(const LodeProfile *profile)
{
	const LodeEvent *event = lode_profile_event(profile, profile->code.weight_event);
	double sum = sum_of_event(profile, profile->code.weight_event);

	g_assert_cmpint(event->kind, ==, LODE_EVENT_SAMPLED);
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		sum += is_of_no_instruction(row) ? row->weight : 0;
	}
	g_assert_cmpfloat_with_epsilon(sum, event->total, 1e-12 * event->total);
}

void check_samples_are_costs(const LodeProfile *profile)
{
	const LodeStacks *stacks = profile->stacks;
	guint n = profile->code.instructions->len, n_events = profile->code.events->len;
	g_autofree double *sums = g_new0(double, MAX((size_t)n * n_events, 1));
	g_autofree double *totals = g_new0(double, n_events);

	g_assert_nonnull(stacks);
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t instruction = lode_stacks_instruction(stacks, sample->stack);
		totals[sample->event] += sample->weight;
		if (instruction != LODE_NONE)
			sums[(size_t)instruction * n_events + sample->event] += sample->weight;
	}
	for (uint32_t event = 0; event < n_events; event++) {
		const LodeEvent *row = lode_profile_event(profile, event);
		/* Entries into the kernel have no stacks of their own. */
		if (row->kind != LODE_EVENT_SAMPLED ||
			g_str_has_prefix(row->name, LODE_KERNEL_EVENTS) ||
			lode_profile_event_as_sampled(profile, event) != LODE_NONE)
			continue;
		g_assert_cmpfloat(fabs(totals[event] - row->total), <=, 1e-9 * row->total);
		for (uint32_t i = 0; i < n; i++)
			g_assert_cmpfloat(fabs(sums[(size_t)i * n_events + event] -
						  lode_profile_event_value(profile, event, i)),
				<=, 1e-9 * row->total);
	}
}

const LodeUnresolved *find_unresolved(const LodeProfile *profile, const char *reason)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, reason) == 0)
			return row;
	}
	return NULL;
}

const LodeFunction *find_profile_function(const LodeProfile *profile, const char *name)
{
	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (strcmp(function->name, name) == 0)
			return function;
	}
	g_error("no function '%s'", name);
}

uint32_t find_instruction(const LodeProfile *profile, const char *function, uint64_t address)
{
	const LodeFunction *own = find_profile_function(profile, function);

	for (uint32_t i = 0; i < own->n_instructions; i++)
		if (LODE_AT(profile->code.instructions, LodeInstruction, own->first_instruction + i)
				.address == address)
			return own->first_instruction + i;
	return LODE_NONE;
}
