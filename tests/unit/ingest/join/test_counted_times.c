/* SPDX-License-Identifier: MIT */
/* Times of loops from samples and counts, and when there are none. */
#include "ingest/join/join.h"
#include "model/observed/loops.h"
#include "model/profile.h"

#include <math.h>

enum { PERIOD = 100000 };

/* A loop of one instruction that has samples of a timer. */
static LodeProfile *make(double samples, double iterations)
{
	LodeProfile *profile = lode_profile_new();
	const LodeInstruction instruction = {.count = iterations, .block = LODE_NONE};

	profile->run.frequency = LODE_FREQUENCY_EXACT;
	profile->code.weight_event = lode_profile_add_event(
		profile, "cpu-clock:cause", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, profile->code.weight_event)->total = 1000.0 * PERIOD;
	profile->run.n_samples = 1000;
	g_array_append_val(profile->code.instructions, instruction);
	lode_loops_add(profile, 0)->weight = samples * PERIOD;
	return profile;
}

static void test_known(void)
{
	const LodeRecording recording = {
		.programs.sampling_share = 0.14, .programs.sampling_error = 0.01};
	g_autoptr(LodeProfile) profile = make(400, 8.6e6);
	const LodeLoop *loop = lode_loops_find(profile, 0);

	lode_join_counted_times(profile, &recording);
	/* 400 samples of 0.1 ms, of which 86 % are the program's */
	g_assert_cmpfloat_with_epsilon(loop->iteration_ns, 4, 1e-9);
	g_assert_cmpfloat_with_epsilon(loop->iteration_error_ns, 4 * hypot(0.01, 0.05), 1e-9);
	g_assert_cmpstr(loop->iteration_source, ==, "counted");
}

static void test_unknown(void)
{
	const LodeRecording recording = {
		.programs.sampling_share = 0.14, .programs.sampling_error = 0.01};

	for (unsigned i = 0; i < 6; i++) {
		g_autoptr(LodeProfile) profile = make(i == 0 ? 0 : 400, i == 1 ? 0 : 8.6e6);
		LodeLoop *loop = lode_loops_find(profile, 0);
		loop->calls = i == 2 ? 0.5 : 0;
		if (i == 3)
			profile->run.frequency = LODE_FREQUENCY_INFERRED;
		if (i == 4)
			profile->run.n_samples = 0;
		if (i == 5)
			lode_profile_event(profile, profile->code.weight_event)->name =
				"cycles:cause";
		lode_join_counted_times(profile, &recording);
		g_assert_cmpfloat(loop->iteration_ns, ==, -1);
		g_assert_null(loop->iteration_source);
	}
}

/* Times from pairs of samples stay. */
static void test_native(void)
{
	const LodeRecording recording = {0};
	g_autoptr(LodeProfile) profile = make(400, 8.6e6);
	LodeLoop *loop = lode_loops_find(profile, 0);

	loop->iteration_ns = 7;
	lode_join_counted_times(profile, &recording);
	g_assert_cmpfloat(loop->iteration_ns, ==, 7);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/counted-times/known", test_known);
	g_test_add_func("/ingest/counted-times/unknown", test_unknown);
	g_test_add_func("/ingest/counted-times/native", test_native);
	return g_test_run();
}
