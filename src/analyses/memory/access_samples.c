/* SPDX-License-Identifier: MIT */
#include "analyses/memory/access_samples.h"

#include "analyses/memory/page_faults.h"

GArray *lode_access_samples(const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
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
