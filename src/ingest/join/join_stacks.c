/* SPDX-License-Identifier: MIT */
#include "ingest/join/join.h"

#include <string.h>

uint32_t lode_join_find_event(const LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinEvents *events, const char *name)
{
	const GPtrArray *columns = recording->events;
	uint32_t traced = recording->is_trace ? lode_profile_find_event(profile, name) : LODE_NONE;

	if (traced != LODE_NONE)
		return traced;
	for (guint i = columns->len - recording->n_sampled; i < columns->len; i++)
		if (strcmp(g_ptr_array_index(columns, i), name) == 0)
			return g_array_index(events->column_events, uint32_t, i);
	return profile->weight_event;
}

void lode_join_stacks(LodeProfile *profile, LodeSampledStacks *sampled,
	const LodeRecording *recording, const LodeJoinEvents *events)
{
	const GPtrArray *names = sampled != NULL ? lode_sampled_stacks_event_names(sampled) : NULL;

	profile->stacks = sampled != NULL ? lode_sampled_stacks_name(sampled, profile) : NULL;
	for (guint i = 0; profile->stacks != NULL && i < profile->stacks->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(
			profile->stacks->samples, LodeStackSample, i);
		sample->event = lode_join_find_event(
			profile, recording, events, g_ptr_array_index(names, sample->event));
	}
}
