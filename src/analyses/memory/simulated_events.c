/* SPDX-License-Identifier: MIT */
#include "analyses/memory/simulated_events.h"

#include "model/code.h"
#include "model/memory.h"

static const char *const names[] = {
	"ll-miss", "l1d-miss", "l1i-miss", "stlb-miss", "dtlb-miss", "itlb-miss", NULL};

const char *const *lode_simulated_events(void)
{
	return names;
}

const char *const *lode_simulated_events_classes(void)
{
	static const char *const classes[] = {LODE_FALSE_SHARING_MISS, LODE_TRUE_SHARING_MISS,
		"conflict-miss", "capacity-miss", "compulsory-miss", NULL};

	return classes;
}

/* Marks the events of traced samples and gives how many there are. */
static uint32_t find_traced(const LodeProfile *profile, bool *is_traced)
{
	const GArray *samples = lode_memory_of(profile)->samples;
	uint32_t n = 0;

	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		if (sample->rule != LODE_RULE_TRACED || is_traced[sample->event])
			continue;
		is_traced[sample->event] = true;
		n++;
	}
	return n;
}

uint32_t lode_simulated_events_default(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	g_autofree bool *is_traced = g_new0(bool, code->events->len + 1);

	if (find_traced(profile, is_traced) < 2)
		return LODE_NONE;
	for (const char *const *name = names; *name != NULL; name++) {
		uint32_t event = lode_profile_find_event(profile, *name);
		if (event != LODE_NONE && is_traced[event])
			return event;
	}
	for (uint32_t i = 0; i < code->events->len; i++)
		if (is_traced[i])
			return i;
	return LODE_NONE;
}
