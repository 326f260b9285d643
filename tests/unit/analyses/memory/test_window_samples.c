/* SPDX-License-Identifier: MIT */
/* Accesses in windows are taken out of a profile, and nothing else is. */
#include "analyses/memory/window_samples.h"

#include "model/memory.h"
#include "sample_profile.h"

enum { N = 300 };

/* Every third sample, or each, is of a window; of some it is known what called them, and what
 * stored. Rows have the number of their sample. */
static LodeProfile *make_profile(uint32_t every)
{
	SampleProfileOptions options = {
		.seed = 3, .n_threads = 4, .n_samples = N, .anon_bytes = 1 << 16};
	LodeProfile *profile = sample_profile_random(&options);
	uint32_t event = lode_profile_add_event(
		profile, LODE_WINDOW_ACCESSES, NULL, LODE_EVENT_SAMPLED, NULL, 0);

	g_array_set_size(profile->memory->access_paths, 0);
	g_array_set_size(profile->memory->line_stores, 0);
	for (uint32_t i = 0; i < profile->memory->samples->len; i++) {
		const LodeAccessPathOf path = {i};
		const LodeLineStore store = {.sample = i, .address = i};
		const LodeLostRange range = {.sample = i, .start = i, .size = 1};
		LODE_AT(profile->memory->samples, LodeMemorySample, i).time_ns = i;
		if (i % every == 0)
			LODE_AT(profile->memory->samples, LodeMemorySample, i).event = event;
		g_array_append_val(profile->memory->access_paths, path);
		if (i % 4 == 0)
			g_array_append_val(profile->memory->line_stores, store);
		if (i % 5 == 0)
			g_array_append_val(profile->memory->lost_ranges, range);
	}
	return profile;
}

static void test_remove(void)
{
	g_autoptr(LodeProfile) profile = make_profile(3);
	const LodeMemory *memory = profile->memory;
	guint n = memory->samples->len, k = 0, s = 0, r = 0;

	g_assert_true(lode_window_samples_remove(profile));
	for (uint32_t i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		g_assert_cmpuint(k, <, memory->samples->len);
		g_assert_cmpuint(LODE_AT(memory->samples, LodeMemorySample, k).time_ns, ==, i);
		g_assert_cmpuint(LODE_AT(memory->access_paths, LodeAccessPathOf, k).call, ==, i);
		if (i % 4 == 0) {
			const LodeLineStore *store = &LODE_AT(
				memory->line_stores, LodeLineStore, s++);
			g_assert_cmpuint(store->address, ==, i);
			g_assert_cmpuint(store->sample, ==, k);
		}
		if (i % 5 == 0) {
			const LodeLostRange *range = &LODE_AT(
				memory->lost_ranges, LodeLostRange, r++);
			g_assert_cmpuint(range->start, ==, i);
			g_assert_cmpuint(range->sample, ==, k);
		}
		k++;
	}
	g_assert_cmpuint(k, ==, memory->samples->len);
	g_assert_cmpuint(k, ==, memory->access_paths->len);
	g_assert_cmpuint(s, ==, memory->line_stores->len);
	g_assert_cmpuint(r, ==, memory->lost_ranges->len);
	g_assert_false(lode_window_samples_remove(profile));
	g_assert_cmpuint(k, ==, memory->samples->len);
}

static void test_remove_all(void)
{
	g_autoptr(LodeProfile) profile = make_profile(1);
	g_autoptr(LodeProfile) bare = lode_profile_new();

	g_assert_true(lode_window_samples_remove(profile));
	g_assert_null(profile->memory);
	g_assert_false(lode_window_samples_remove(profile));
	g_assert_false(lode_window_samples_remove(bare));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/window-samples/remove", test_remove);
	g_test_add_func("/window-samples/remove-all", test_remove_all);
	return g_test_run();
}
