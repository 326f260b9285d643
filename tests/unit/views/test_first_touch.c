/* SPDX-License-Identifier: MIT */
/* The first-touch map's three forms on a profile made by hand. */
#include "../analyses/memory/sample_profile.h"
#include "golden_text.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "views/memory/memory_views.h"

#include <string.h>

enum { PAGE = 4096 };

static char *write_view(LodeProfile *profile, const LodeFirstTouchOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	FILE *file = sample_open();

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(all, i);
	bool done = lode_first_touch_write(
		profile, (const uint32_t *)(void *)all->data, all->len, options, file, &error);
	g_assert_no_error(error);
	g_assert_true(done);
	return sample_close(file);
}

/* Thread 0 touches what the others work on; thread 1 its own page; one page has no fault. */
static LodeProfile *touched_profile(void)
{
	LodeProfile *profile = sample_profile_new(3, 0x40000);

	for (uint32_t i = 0; i < 16; i++)
		sample_profile_fault(profile, 0, SAMPLE_ANON + i * PAGE, 2000000 + i * 1000, 2);
	sample_profile_fault(profile, 1, SAMPLE_ANON + 32 * PAGE, 5000000, 6);
	for (uint32_t i = 0; i < 16; i++)
		sample_profile_access(
			profile, 1 + i / 8, SAMPLE_ANON + i * PAGE + 64, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 0, SAMPLE_ANON + 3 * PAGE, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 1, SAMPLE_ANON + 32 * PAGE, LODE_ACCESS_STORE, 4)->weight =
		9;
	sample_profile_access(profile, 2, SAMPLE_NODES + 8, LODE_ACCESS_LOAD, 4);
	sample_profile_unresolved(profile, 2, LODE_REASON_NO_DECODE);
	return profile;
}

static void check_golden(const char *name, const LodeFirstTouchOptions *options)
{
	g_autoptr(LodeProfile) profile = touched_profile();
	g_autofree char *text = write_view(profile, options);

	golden_assert(name, text);
}

static void test_forms(void)
{
	LodeFirstTouchOptions options;

	lode_first_touch_options_init(&options);
	check_golden("first_touch.txt", &options);
	options.terminal = (LodeTerminal){.width = 72, .is_ascii = true};
	options.is_by_address = true;
	options.has_limit = true;
	options.limit = 2;
	check_golden("first_touch_narrow.txt", &options);
	options.format = LODE_VIEW_CSV;
	options.limit = 3;
	options.is_by_address = false;
	check_golden("first_touch.csv", &options);
	options.format = LODE_VIEW_JSON;
	check_golden("first_touch.json", &options);
}

static void test_no_faults(void)
{
	LodeFirstTouchOptions options;
	g_autoptr(LodeProfile) profile = sample_profile_new(1, PAGE);

	lode_first_touch_options_init(&options);
	g_autofree char *empty = write_view(profile, &options);
	g_assert_nonnull(strstr(empty, "No page fault was recorded"));
	sample_profile_access(profile, 0, UINT64_MAX, LODE_ACCESS_STORE, 0);
	g_autofree char *text = write_view(profile, &options);
	g_assert_nonnull(strstr(text, "No page fault was recorded"));
	g_assert_nonnull(strstr(text, "0xfffffffffffff000"));
	g_assert_nonnull(strstr(text, "record with --event page-faults"));
	g_array_index(profile->memory->samples, LodeMemorySample, 0).rule = LODE_RULE_TRACED;
	g_autofree char *traced = write_view(profile, &options);
	g_assert_nonnull(strstr(traced, "an address trace has none"));
	g_assert_null(strstr(traced, "record with"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/first_touch/forms", test_forms);
	g_test_add_func("/first_touch/no_faults", test_no_faults);
	return g_test_run();
}
