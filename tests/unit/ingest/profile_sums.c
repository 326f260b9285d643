/* SPDX-License-Identifier: MIT */
#include "profile_sums.h"

#include <string.h>

double sum_of_event(const LodeProfile *profile, uint32_t event)
{
	double sum = 0;

	for (guint i = 0; i < profile->instructions->len; i++)
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
	const LodeEvent *event = lode_profile_event(profile, profile->weight_event);
	double sum = sum_of_event(profile, profile->weight_event);

	g_assert_cmpint(event->kind, ==, LODE_EVENT_SAMPLED);
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		sum += is_of_no_instruction(row) ? row->weight : 0;
	}
	g_assert_cmpfloat_with_epsilon(sum, event->total, 1e-12 * event->total);
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
	for (guint i = 0; i < profile->functions->len; i++) {
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
		if (LODE_AT(profile->instructions, LodeInstruction, own->first_instruction + i)
				.address == address)
			return own->first_instruction + i;
	return LODE_NONE;
}
