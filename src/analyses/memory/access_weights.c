/* SPDX-License-Identifier: MIT */
#include "analyses/memory/access_weights.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/window_samples.h"
#include "base/error.h"
#include "model/memory.h"
#include "model/profile.h"

#include <string.h>

enum { N_OPERANDS = 2 };

/* The sums of one instruction and operand. */
typedef struct {
	double resolved, unresolved; /* weight with an address, and without */
} Sampled;

static const LodeAttributeMark accessing[] = {
	{"kind:load", 1}, {"kind:store", 1}, {"kind:atomic", 1}};

static LodeMemorySample *sample_at(const LodeProfile *profile, guint i)
{
	return &LODE_AT(profile->memory->samples, LodeMemorySample, i);
}

static bool has_address(const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE && !sample->is_next;
}

static Sampled *sampled_at(
	const LodeProfile *profile, Sampled *sampled, const LodeMemorySample *sample)
{
	if (sample->access_instruction >= profile->code.instructions->len)
		return NULL;
	return &sampled[(size_t)sample->access_instruction * N_OPERANDS +
			MIN(sample->operand, N_OPERANDS - 1)];
}

static double weight_of(
	const LodeProfile *profile, const LodeMemorySample *sample, const Sampled *of)
{
	double executions;

	if (of == NULL)
		return 0;
	executions = lode_profile_instruction(profile, sample->access_instruction)->count;
	if (of->resolved > 0)
		return has_address(sample) ? executions * (sample->weight / of->resolved) : 0;
	return of->unresolved > 0 ? executions * (sample->weight / of->unresolved) : 0;
}

/* The events whose samples keep their weights. */
static bool *find_left(const LodeProfile *profile)
{
	bool *are_left = lode_page_faults_events(profile);
	uint32_t windows = lode_window_samples_event_apart(profile);

	if (windows != LODE_NONE)
		are_left[windows] = true;
	return are_left;
}

static void weigh(LodeProfile *profile, LodeAccessWeights *weights)
{
	const guint n = profile->memory->samples->len;
	const uint32_t n_instructions = profile->code.instructions->len;
	g_autofree bool *are_left = find_left(profile);
	g_autofree uint16_t *accesses = lode_profile_mark_sets(
		profile, accessing, G_N_ELEMENTS(accessing));
	g_autofree Sampled *sampled = g_new0(Sampled, (size_t)n_instructions * N_OPERANDS + 1);
	uint32_t event = lode_profile_add_event(profile, "accesses",
		"executions, by the sampled addresses of each instruction", LODE_EVENT_SAMPLED,
		NULL, 0);

	for (guint i = 0; i < n; i++) {
		const LodeMemorySample *sample = sample_at(profile, i);
		Sampled *of = sampled_at(profile, sampled, sample);
		if (of != NULL && !are_left[sample->event])
			*(has_address(sample) ? &of->resolved : &of->unresolved) += sample->weight;
	}
	for (guint i = 0; i < n; i++) {
		LodeMemorySample *sample = sample_at(profile, i);
		const Sampled *of = sampled_at(profile, sampled, sample);
		if (are_left[sample->event])
			continue;
		sample->weight = weight_of(profile, sample, of);
		sample->event = event;
		weights->n_unplaced += of == NULL;
		weights->unresolved += has_address(sample) ? 0 : sample->weight;
	}
	for (uint32_t i = 0; i < n_instructions; i++) {
		const LodeInstruction *row = lode_profile_instruction(profile, i);
		const Sampled *of = &sampled[(size_t)i * N_OPERANDS];
		bool is_sampled =
			of[0].resolved + of[0].unresolved + of[1].resolved + of[1].unresolved > 0;
		if (!is_sampled && accesses[row->attribute_set] == 0)
			continue;
		weights->accesses += row->count;
		weights->unsampled += is_sampled ? 0 : row->count;
	}
}

bool lode_access_weights_apply(LodeProfile *profile, LodeAccessWeights *out_weights, GError **error)
{
	LodeAccessWeights weights = {0};

	if (lode_memory_is_traced(profile->memory)) {
		bool has_accesses = false;
		for (guint i = 0; i < profile->memory->samples->len && !has_accesses; i++) {
			uint32_t event = sample_at(profile, i)->event;
			has_accesses = strcmp(lode_profile_event(profile, event)->name,
					       "accesses") == 0;
		}
		/* The samples are the accesses already. */
		if (has_accesses) {
			*out_weights = weights;
			return true;
		}
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has the misses of simulated caches, not all accesses; 'lode "
			"import' without --simulate keeps those");
		return false;
	}
	if (profile->run.frequency != LODE_FREQUENCY_EXACT) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"executions were not counted, and time is not accesses; import the "
			"recording together with callgrind's counts of the same program, or "
			"record an address trace with 'lode trace record'");
		return false;
	}
	weigh(profile, &weights);
	profile->memory->is_stall_weighted = false;
	*out_weights = weights;
	return true;
}

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
	uint32_t windows = lode_window_samples_event(profile);
	uint32_t event = lode_profile_add_event(
		profile, "latency", "cycles that accesses took", LODE_EVENT_SAMPLED, NULL, 0);
	for (guint i = 0; i < samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		if (sample->event == windows)
			continue;
		sample->weight *= (double)sample->latency;
		sample->event = event;
	}
	profile->memory->is_stall_weighted = false;
	return true;
}
