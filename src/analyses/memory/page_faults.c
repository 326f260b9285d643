/* SPDX-License-Identifier: MIT */
/* Samples of page faults, known by the name of their event. */
#include "analyses/memory/page_faults.h"
#include "model/code.h"
#include "model/memory.h"

bool lode_page_faults_is_event(const LodeProfile *profile, uint32_t event)
{
	return event < lode_code_of(profile)->events->len &&
	       lode_is_page_fault_event(lode_profile_event(profile, event)->name);
}

bool *lode_page_faults_events(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	bool *are_faults = g_new0(bool, code->events->len + 1);

	for (uint32_t i = 0; i < code->events->len; i++)
		are_faults[i] = lode_page_faults_is_event(profile, i);
	return are_faults;
}

GArray *lode_page_faults_exclude(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (size_t i = 0; i < n_samples; i++) {
		uint32_t event = LODE_AT(memory->samples, LodeMemorySample, samples[i]).event;
		if (!are_faults[event])
			g_array_append_val(chosen, samples[i]);
	}
	if (chosen->len == 0 && n_samples > 0)
		g_array_append_vals(chosen, samples, (guint)n_samples);
	return chosen;
}
