/* SPDX-License-Identifier: MIT */
/* Samples of page faults, known by the name of their event. */
#include "analyses/memory/page_faults.h"

#include <string.h>

bool lode_page_faults_is_event(const LodeProfile *profile, uint32_t event)
{
	static const char *const names[] = {
		"page-faults", "minor-faults", "major-faults", "faults"};

	if (event >= profile->events->len)
		return false;
	const char *name = lode_profile_event(profile, event)->name;
	size_t length = strcspn(name, ":");
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
			return true;
	return false;
}

bool *lode_page_faults_events(const LodeProfile *profile)
{
	bool *are_faults = g_new0(bool, profile->events->len + 1);

	for (uint32_t i = 0; i < profile->events->len; i++)
		are_faults[i] = lode_page_faults_is_event(profile, i);
	return are_faults;
}

GArray *lode_page_faults_exclude(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (size_t i = 0; i < n_samples; i++) {
		uint32_t event =
			LODE_AT(profile->memory->samples, LodeMemorySample, samples[i]).event;
		if (!are_faults[event])
			g_array_append_val(chosen, samples[i]);
	}
	if (chosen->len == 0 && n_samples > 0)
		g_array_append_vals(chosen, samples, (guint)n_samples);
	return chosen;
}
