/* SPDX-License-Identifier: MIT */
/* Executions spread over the samples of their instructions. */
#include "analyses/memory/access_weights.h"
#include "base/error.h"
#include "model/memory.h"
#include "model/profile.h"

#include "seeds.h"

#include <math.h>

enum { N_INSTRUCTIONS = 5 };

static LodeProfile *new_profile(void)
{
	LodeProfile *profile = lode_profile_new();

	profile->run.frequency = LODE_FREQUENCY_EXACT;
	lode_profile_add_event(profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "page-faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	uint32_t load = lode_profile_attribute(profile, "kind:load");
	uint32_t sets[] = {lode_profile_attribute_set(profile, NULL, 0),
		lode_profile_attribute_set(profile, &load, 1)};
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++) {
		/* the last one does not load */
		LodeInstruction instruction = {
			.count = 1000 * (i + 1), .attribute_set = sets[i + 1 < N_INSTRUCTIONS]};
		g_array_append_val(profile->code.instructions, instruction);
	}
	profile->memory = lode_memory_new();
	profile->memory->is_stall_weighted = true;
	return profile;
}

static void add(LodeProfile *profile, uint32_t instruction, uint8_t operand, bool has_address,
	double weight)
{
	LodeMemorySample sample = {.weight = weight,
		.access_instruction = instruction,
		.operand = operand,
		.rule = has_address ? LODE_RULE_AT_PC : LODE_RULE_NONE};

	g_array_append_val(profile->memory->samples, sample);
}

static double weight_of(const LodeProfile *profile, uint32_t instruction, int operand, int resolved)
{
	double weight = 0;

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		if (sample->event != 1 && sample->access_instruction == instruction &&
			sample->operand == operand &&
			(sample->rule != LODE_RULE_NONE) == (resolved != 0))
			weight += sample->weight;
	}
	return weight;
}

static void test_known(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	g_autoptr(GError) error = NULL;
	LodeAccessWeights weights;

	add(profile, 0, 0, true, 3);
	add(profile, 0, 0, true, 1);
	add(profile, 0, 0, false, 6); /* takes no part, as others have an address */
	add(profile, 1, 0, false, 5);
	add(profile, LODE_NONE, 0, false, 5);
	g_assert_true(lode_access_weights_apply(profile, &weights, &error));
	g_assert_no_error(error);
	const LodeMemorySample *samples = (const LodeMemorySample *)profile->memory->samples->data;
	g_assert_cmpfloat(samples[0].weight, ==, 750);
	g_assert_cmpfloat(samples[1].weight, ==, 250);
	g_assert_cmpfloat(samples[2].weight, ==, 0);
	g_assert_cmpfloat(samples[3].weight, ==, 2000);
	g_assert_cmpfloat(samples[4].weight, ==, 0);
	g_assert_cmpstr(lode_profile_event(profile, samples[0].event)->name, ==, "accesses");
	g_assert_cmpfloat(weights.accesses, ==, 1000 + 2000 + 3000 + 4000);
	g_assert_cmpfloat(weights.unsampled, ==, 3000 + 4000);
	g_assert_cmpfloat(weights.unresolved, ==, 2000);
	g_assert_cmpuint(weights.n_unplaced, ==, 1);
	g_assert_false(profile->memory->is_stall_weighted);
}

static void test_refused(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	g_autoptr(GError) error = NULL;
	LodeAccessWeights weights = {.accesses = 7};

	add(profile, 0, 0, true, 3);
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	g_assert_false(lode_access_weights_apply(profile, &weights, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_cmpfloat(weights.accesses, ==, 7);
}

/* Whatever the samples are, an operand with an address has all executions. */
static void test_random(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	bool has[N_INSTRUCTIONS][2] = {0}, lacks[N_INSTRUCTIONS][2] = {0};
	gint32 n = random_int_range(0, 50);
	LodeAccessWeights weights;

	for (gint32 i = 0; i < n; i++) {
		uint32_t instruction = (uint32_t)random_int_range(0, N_INSTRUCTIONS);
		uint8_t operand = random_int_range(0, 5) == 0;
		bool has_address = random_int_range(0, 3) != 0;
		add(profile, instruction, operand, has_address, random_int_range(1, 100));
		(has_address ? has : lacks)[instruction][operand] = true;
		if (random_int_range(0, 6) != 0)
			continue;
		add(profile, instruction, operand, true, 5);
		LODE_AT(profile->memory->samples, LodeMemorySample,
			profile->memory->samples->len - 1)
			.event = 1;
	}
	g_assert_true(lode_access_weights_apply(profile, &weights, NULL));
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++) {
		double count = lode_profile_instruction(profile, i)->count;
		for (int j = 0; j < 2; j++) {
			double expected = has[i][j] ? count : 0;
			double lost = !has[i][j] && lacks[i][j] ? count : 0;
			g_assert_cmpfloat(fabs(weight_of(profile, i, j, 1) - expected), <, 1e-6);
			g_assert_cmpfloat(fabs(weight_of(profile, i, j, 0) - lost), <, 1e-6);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/access-weights/known", test_known);
	g_test_add_func("/access-weights/refused", test_refused);
	add_random_test("/access-weights/random", test_random,
		"R02S00000000000000000000000000000031", "R02S00000000000000000000000000000032",
		"R02S00000000000000000000000000000033", "R02S00000000000000000000000000000034",
		NULL);
	return g_test_run();
}
