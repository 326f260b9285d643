/* SPDX-License-Identifier: MIT */
#include "analyses/memory/window_samples.h"

#include "analyses/memory/page_faults.h"
#include "model/memory.h"
#include "model/profile.h"

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

bool lode_window_samples_remove(LodeProfile *profile)
{
	uint32_t event = lode_window_samples_event(profile), kept = 0;
	LodeMemory *memory = profile->memory;
	guint n = memory != NULL ? memory->samples->len : 0;
	g_autofree uint32_t *numbers = g_new(uint32_t, n + 1); /* LODE_NONE: removed */

	for (guint i = 0; i < n; i++) {
		bool is_removed = LODE_AT(memory->samples, LodeMemorySample, i).event == event;
		numbers[i] = is_removed ? LODE_NONE : kept;
		if (is_removed)
			continue;
		LODE_AT(memory->samples, LodeMemorySample, kept) = LODE_AT(
			memory->samples, LodeMemorySample, i);
		if (i < memory->access_paths->len)
			LODE_AT(memory->access_paths, LodeAccessPathOf, kept) = LODE_AT(
				memory->access_paths, LodeAccessPathOf, i);
		kept++;
	}
	if (kept == n)
		return false;
	g_array_set_size(memory->samples, kept);
	g_array_set_size(memory->access_paths, MIN(memory->access_paths->len, kept));
	guint n_stores = 0;
	for (guint i = 0; i < memory->line_stores->len; i++) {
		LodeLineStore store = LODE_AT(memory->line_stores, LodeLineStore, i);
		store.sample = numbers[store.sample];
		if (store.sample != LODE_NONE)
			LODE_AT(memory->line_stores, LodeLineStore, n_stores++) = store;
	}
	g_array_set_size(memory->line_stores, n_stores);
	guint n_ranges = 0;
	for (guint i = 0; i < memory->lost_ranges->len; i++) {
		LodeLostRange range = LODE_AT(memory->lost_ranges, LodeLostRange, i);
		range.sample = numbers[range.sample];
		if (range.sample != LODE_NONE)
			LODE_AT(memory->lost_ranges, LodeLostRange, n_ranges++) = range;
	}
	g_array_set_size(memory->lost_ranges, n_ranges);
	if (kept == 0)
		g_clear_pointer(&profile->memory, lode_memory_free);
	return true;
}
