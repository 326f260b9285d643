/* SPDX-License-Identifier: MIT */
#include "analyses/memory/latency_weights.h"

#include "base/error.h"

bool lode_latency_weights_apply(LodeProfile *profile, GError **error)
{
	GArray *samples = profile->memory->samples;
	bool has_latency = false;

	for (guint i = 0; i < samples->len; i++)
		has_latency |= LODE_AT(samples, LodeMemorySample, i).latency != 0;
	if (!has_latency) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sample has a latency; processors measure it for events such as "
			"'mem-loads' (PEBS), IBS or SPE");
		return false;
	}
	uint32_t event = lode_profile_add_event(
		profile, "latency", "cycles that accesses took", LODE_EVENT_SAMPLED, NULL, 0);
	for (guint i = 0; i < samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		sample->weight *= (double)sample->latency;
		sample->event = event;
	}
	profile->memory->is_stall_weighted = false;
	return true;
}
