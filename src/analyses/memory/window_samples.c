/* SPDX-License-Identifier: MIT */
#include "analyses/memory/window_samples.h"

#include "analyses/memory/page_faults.h"
#include "model/memory.h"

uint32_t lode_window_samples_event(const LodeProfile *profile)
{
	return lode_profile_find_event(profile, LODE_WINDOW_ACCESSES);
}

uint32_t lode_window_samples_event_apart(const LodeProfile *profile)
{
	uint32_t event = lode_window_samples_event(profile);
	const GArray *samples = profile->memory->samples;
	g_autofree bool *are_faults = lode_page_faults_events(profile);

	for (guint i = 0; event != LODE_NONE && i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		if (sample->event != event && !are_faults[sample->event])
			return event;
	}
	return LODE_NONE;
}
