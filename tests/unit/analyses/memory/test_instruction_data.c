/* SPDX-License-Identifier: MIT */
/* What instructions accessed, against sums over all samples, on random ones. */
#include "analyses/memory/instruction_data.h"

#include "model/memory.h"
#include "model/profile.h"
#include "seeds.h"

#include <math.h>

enum { N_INSTRUCTIONS = 6, N_FUNCTIONS = 2, N_OBJECTS = 3 };

static LodeProfile *new_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	static const char *const events[] = {"cpu-clock", "page-faults"};

	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		lode_profile_add_event(profile, events[i], NULL, LODE_EVENT_SAMPLED, NULL, 0);
	g_array_set_size(profile->code.functions, N_FUNCTIONS);
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++) {
		LodeInstruction instruction = {.function = i / 3};
		g_array_append_val(profile->code.instructions, instruction);
	}
	profile->memory = lode_memory_new();
	return profile;
}

static void add_random(LodeProfile *profile)
{
	uint32_t instruction = (uint32_t)random_int_range(0, N_INSTRUCTIONS + 1);
	bool is_known = instruction < N_INSTRUCTIONS;
	LodeMemorySample sample = {
		.weight = random_int_range(1, 100),
		.event = random_int_range(0, 4) == 0,
		.address = random_int_range(0, 8) == 0 ? UINT64_MAX - 3
	                                               : (uint64_t)random_int_range(0, 1000),
		.size = (uint32_t)random_int_range(0, 9),
		.access = (uint8_t)random_int_range(0, 4),
		.access_instruction = is_known ? instruction : LODE_NONE,
		.access_function = is_known ? instruction / 3 : LODE_NONE,
		.object = (uint32_t)random_int_range(0, N_OBJECTS),
		.rule = random_int_range(0, 3) == 0 ? LODE_RULE_NONE : LODE_RULE_AT_PC,
	};
	if (sample.rule == LODE_RULE_NONE && random_bit())
		sample.object = LODE_NONE;
	g_array_append_val(profile->memory->samples, sample);
}

static void check_instruction(
	const LodeProfile *profile, const LodeInstructionData *data, uint32_t instruction)
{
	double weight = 0, unresolved = 0, by_object[N_OBJECTS] = {0}, last = INFINITY;
	uint64_t n = 0, least = UINT64_MAX, most = 0;
	const LodeInstructionDatum *datum = lode_instruction_data_find(data, instruction);

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		if (sample->access_instruction != instruction || sample->event != 0)
			continue;
		n++;
		weight += sample->weight;
		if (sample->object != LODE_NONE)
			by_object[sample->object] += sample->weight;
		if (sample->rule == LODE_RULE_NONE) {
			unresolved += sample->weight;
			continue;
		}
		least = MIN(least, sample->address);
		uint64_t end = sample->address + MAX(sample->size, 1) - 1;
		most = MAX(most, end < sample->address ? UINT64_MAX : end);
	}
	g_assert_true((datum != NULL) == (n > 0));
	if (datum == NULL)
		return;
	g_assert_cmpuint(datum->totals.n_samples, ==, n);
	g_assert_cmpfloat(datum->totals.weight, ==, weight);
	g_assert_cmpfloat(datum->unresolved_weight, ==, unresolved);
	g_assert_cmphex(datum->least, ==, least);
	g_assert_cmphex(datum->most, ==, most);
	for (uint32_t i = 0; i < datum->n_objects; i++) {
		const LodeInstructionObject *object = &LODE_AT(
			data->objects, LodeInstructionObject, datum->first_object + i);
		g_assert_cmpfloat(object->weight, ==, by_object[object->object]);
		g_assert_cmpfloat(object->weight, <=, last);
		last = object->weight;
		by_object[object->object] = 0;
	}
	for (int i = 0; i < N_OBJECTS; i++)
		g_assert_cmpfloat(by_object[i], ==, 0);
}

static void test_random(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	gint32 n = random_int_range(0, 60);

	for (gint32 i = 0; i < n; i++)
		add_random(profile);
	g_autoptr(LodeInstructionData) data = lode_instruction_data_new(profile);
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++)
		check_instruction(profile, data, i);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		double weight = 0;
		for (uint32_t j = 3 * i; j < 3 * i + 3; j++) {
			const LodeInstructionDatum *datum = lode_instruction_data_find(data, j);
			weight += datum != NULL ? datum->totals.weight : 0;
		}
		g_assert_cmpfloat(data->functions[i].weight, ==, weight);
	}
}

/* Accesses in windows are taken where there is nothing else, and are then said to be such. */
static void test_windows(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	LodeMemorySample sample = {.weight = 2,
		.size = 8,
		.access_instruction = 4,
		.access_function = 1,
		.object = LODE_NONE,
		.rule = LODE_RULE_WINDOW};

	sample.event = lode_profile_add_event(
		profile, LODE_WINDOW_ACCESSES, NULL, LODE_EVENT_SAMPLED, NULL, 0);
	for (sample.address = 0; sample.address < 5; sample.address++)
		g_array_append_val(profile->memory->samples, sample);
	g_autoptr(LodeInstructionData) alone = lode_instruction_data_new(profile);
	g_assert_true(alone->is_of_windows);
	g_assert_cmpfloat(lode_instruction_data_find(alone, 4)->totals.weight, ==, 10);
	sample.event = 0;
	sample.access_instruction = 3;
	g_array_append_val(profile->memory->samples, sample);
	g_autoptr(LodeInstructionData) apart = lode_instruction_data_new(profile);
	g_assert_false(apart->is_of_windows);
	g_assert_null(lode_instruction_data_find(apart, 4));
	g_assert_cmpfloat(apart->functions[1].weight, ==, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/instruction-data/random", test_random,
		"R02S00000000000000000000000000000021", "R02S00000000000000000000000000000022",
		"R02S00000000000000000000000000000023", "R02S00000000000000000000000000000024",
		"R02S00000000000000000000000000000025", "R02S00000000000000000000000000000026",
		"R02S00000000000000000000000000000027", "R02S00000000000000000000000000000028",
		NULL);
	g_test_add_func("/instruction-data/windows", test_windows);
	return g_test_run();
}
