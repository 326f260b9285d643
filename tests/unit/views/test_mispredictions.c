/* SPDX-License-Identifier: MIT */
/* What counted mispredictions cost at least, in words. */
#include "images/cores/core.h"
#include "model/profile.h"
#include "views/observed/mispredictions.h"

enum { EXECUTIONS = 1000, MISSES = 490, WHOLE_NS = 10000 };

/* One branch of that many executions and misses. */
static LodeProfile *make_profile(const char *weight)
{
	LodeProfile *profile = lode_profile_new();
	const LodeInstruction branch = {.count = EXECUTIONS};
	uint32_t ends[] = {0, 1};

	profile->run.frequency = LODE_FREQUENCY_EXACT;
	profile->run.core = lode_profile_intern(profile, "Zen 3");
	profile->run.cycles_per_ns = 4;
	profile->code.weight_event = lode_profile_add_event(
		profile, weight, NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, profile->code.weight_event)->total = WHOLE_NS;
	const LodeCost misses = {
		lode_profile_add_event(profile, "branch-miss", NULL, LODE_EVENT_RECORDED, NULL, 0),
		MISSES};
	g_array_append_val(profile->code.instructions, branch);
	g_array_append_val(profile->code.costs, misses);
	g_array_set_size(profile->code.cost_starts, 0);
	g_array_append_vals(profile->code.cost_starts, ends, G_N_ELEMENTS(ends));
	return profile;
}

static void assert_text(const LodeProfile *profile, const char *expected)
{
	const LodeMispredictions found = lode_mispredictions_of(profile);
	g_autoptr(GString) text = g_string_new(NULL);

	lode_mispredictions_append(&found, profile, 0, "; ", text);
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_share(void)
{
	g_autoptr(LodeProfile) profile = make_profile("cpu-clock");
	g_autoptr(LodeCore) core = lode_core_named("Zen 3");

	g_assert_cmpfloat(core->mispredict, ==, 11);
	/* 490 × 11 cycles ÷ 4 a ns = 1347.5 of 10,000 ns */
	assert_text(profile, "; mispredicted 49 %, at least 13 % of the time");
	profile->run.cycles_per_ns = 0;
	assert_text(profile, "; mispredicted 49 %");
	profile->run.cycles_per_ns = 4;
	profile->run.core = lode_profile_intern(profile, "a core of another lode");
	assert_text(profile, "; mispredicted 49 %");
	profile->run.core = NULL;
	assert_text(profile, "; mispredicted 49 %");
}

static void test_nothing(void)
{
	g_autoptr(LodeProfile) profile = make_profile("cpu-clock");
	g_autoptr(LodeProfile) counts = make_profile("instructions");

	assert_text(counts, "; mispredicted 49 %");
	g_array_index(profile->code.costs, LodeCost, 0).value = EXECUTIONS / 200.0;
	assert_text(profile, "");
	g_array_index(profile->code.costs, LodeCost, 0).value = 0;
	assert_text(profile, "");
	g_array_index(profile->code.costs, LodeCost, 0).value = MISSES;
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	assert_text(profile, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mispredictions/share", test_share);
	g_test_add_func("/mispredictions/nothing", test_nothing);
	return g_test_run();
}
