/* SPDX-License-Identifier: MIT */
#include "analyses/memory/coverage.h"

#include "analyses/memory/page_faults.h"

static void add_layers(LodeMemoryCoverage *self, const LodeDataObject *object,
	const LodeMemorySample *sample, uint32_t row)
{
	const bool answers[LODE_N_LAYERS] = {
		[LODE_LAYER_TYPE] = object->type != LODE_NONE,
		[LODE_LAYER_VARIABLE] = object->variable != NULL,
		[LODE_LAYER_ALLOCATION] = object->site != LODE_NONE,
		[LODE_LAYER_MAPPING] = object->mapping != NULL,
	};

	lode_access_totals_add(&self->named[object->layer], sample, row);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		if (answers[i])
			lode_access_totals_add(&self->known[i], sample, row);
	if (object->member != LODE_NONE)
		lode_access_totals_add(&self->members, sample, row);
}

static void add_sample(LodeMemoryCoverage *self, const LodeMemory *memory, uint32_t row)
{
	const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, row);

	lode_access_totals_add(&self->total, sample, row);
	lode_access_totals_add(&self->by_rule[sample->rule], sample, row);
	lode_access_totals_add(&self->by_reason[sample->reason], sample, row);
	if (sample->rule != LODE_RULE_NONE)
		lode_access_totals_add(&self->resolved, sample, row);
	if (sample->is_unverified)
		lode_access_totals_add(&self->unverified, sample, row);
	if (sample->object < memory->objects->len)
		add_layers(self, &LODE_AT(memory->objects, LodeDataObject, sample->object), sample,
			row);
	else
		lode_access_totals_add(&self->unnamed, sample, row);
}

/* The events with samples; page faults only when there are no others. */
static GArray *choose_events(const LodeProfile *profile, const LodeMemoryCoverage *events)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	GArray *chosen = g_array_new(FALSE, TRUE, sizeof(LodeMemoryCoverage));

	for (int faults = 0; faults < 2 && chosen->len == 0; faults++)
		for (guint i = 0; i < profile->events->len; i++)
			if (are_faults[i] == (faults != 0) && events[i].total.n_samples > 0)
				g_array_append_val(chosen, events[i]);
	return chosen;
}

GArray *lode_memory_coverage_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = profile->memory;
	guint n_events = profile->events->len;
	g_autofree LodeMemoryCoverage *events = g_new0(LodeMemoryCoverage, n_events + 1);
	size_t n = samples != NULL ? n_samples : memory->samples->len;

	for (guint i = 0; i < n_events; i++)
		events[i].event = i;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = samples != NULL ? samples[i] : (uint32_t)i;
		uint32_t event = LODE_AT(memory->samples, LodeMemorySample, row).event;
		if (event < n_events)
			add_sample(&events[event], memory, row);
	}
	return choose_events(profile, events);
}
