/* SPDX-License-Identifier: MIT */
/* The histogram's three forms on a profile made by hand, and on extreme ones. */
#include "../analyses/memory/sample_profile.h"
#include "analyses/memory/cells/address_histogram.h"
#include "base/error.h"
#include "golden_text.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "views/memory/memory_views.h"

#include <json-glib/json-glib.h>
#include <string.h>

static char *write_view(LodeProfile *profile, const LodeMemoryHistogramOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	FILE *file = sample_open();

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(all, i);
	bool done = lode_memory_histogram_write(
		profile, (const uint32_t *)(void *)all->data, all->len, options, file, &error);
	g_assert_no_error(error);
	g_assert_true(done);
	return sample_close(file);
}

static LodeMemoryHistogramOptions default_options(LodeViewFormat format)
{
	LodeMemoryHistogramOptions options;

	lode_memory_histogram_options_init(&options);
	options.format = format;
	return options;
}

/* Two threads that share a hot page beside a cold stretch, and each with its own. */
static LodeProfile *small_profile(void)
{
	LodeProfile *profile = sample_profile_new(2, 0x40000);

	for (uint32_t i = 0; i < 12; i++)
		sample_profile_access(
			profile, i % 2, SAMPLE_ANON + 0x8000 + i * 8, LODE_ACCESS_LOAD, i % 8);
	for (uint32_t i = 0; i < 8; i++)
		sample_profile_access(
			profile, 1, SAMPLE_ANON + 0x10000 + i * 0x1000, LODE_ACCESS_STORE, 2)
			->weight = 1 + i / 2;
	for (uint32_t i = 0; i < 6; i++)
		sample_profile_access(
			profile, 0, SAMPLE_NODES + i * 24 + i % 2 * 8, LODE_ACCESS_LOAD, 4);
	sample_profile_access(
		profile, 0, SAMPLE_DATA + 16, LODE_ACCESS_LOAD | LODE_ACCESS_STORE, 3);
	sample_profile_access(profile, 0, SAMPLE_MAIN_STACK + 0x800, LODE_ACCESS_STORE, 8);
	sample_profile_access(profile, 1, SAMPLE_STACKS + SAMPLE_STACK_SIZE, LODE_ACCESS_LOAD, 8);
	sample_profile_access(profile, 1, 0x1234, 0, 8); /* in no mapping, kind unknown */
	sample_profile_unresolved(profile, 0, LODE_REASON_TLS);
	sample_profile_unresolved(profile, 1, LODE_REASON_BLOCKED);
	sample_profile_unresolved(profile, 1, LODE_REASON_BLOCKED);
	sample_profile_fault(profile, 1, SAMPLE_ANON + 0x8000, 5, 0);
	return profile;
}

static void check_golden(const char *name, const LodeMemoryHistogramOptions *options)
{
	g_autoptr(LodeProfile) profile = small_profile();
	g_autofree char *text = write_view(profile, options);
	g_autofree char *again = write_view(profile, options);

	g_assert_cmpstr(text, ==, again);
	golden_assert(name, text);
}

static void test_text(void)
{
	LodeMemoryHistogramOptions options = default_options(LODE_VIEW_TEXT);

	check_golden("memory_histogram.txt", &options);
	options.granularity = LODE_LINE_BYTES;
	options.sort = LODE_HISTOGRAM_BY_ADDRESS;
	options.scope = LODE_HISTOGRAM_TOGETHER;
	check_golden("memory_histogram_lines.txt", &options);
	options.granularity = LODE_PAGE_BYTES;
	options.scope = LODE_HISTOGRAM_BY_THREAD;
	options.sort = LODE_HISTOGRAM_BY_STORES;
	options.has_limit = true;
	options.limit = 2;
	options.terminal = (LodeTerminal){.width = 60, .is_ascii = true};
	check_golden("memory_histogram_narrow.txt", &options);
}

static void test_rows(void)
{
	LodeMemoryHistogramOptions options = default_options(LODE_VIEW_CSV);

	check_golden("memory_histogram.csv", &options);
	options.scope = LODE_HISTOGRAM_TOGETHER;
	check_golden("memory_histogram_together.csv", &options);
	options.format = LODE_VIEW_JSON;
	options.scope = LODE_HISTOGRAM_OVERVIEW;
	check_golden("memory_histogram.json", &options);
}

/* The rows of a CSV add up to what was sampled. */
static void test_sums(void)
{
	SampleProfileOptions random = {.seed = 5,
		.n_threads = 200,
		.n_samples = 20000,
		.anon_bytes = UINT64_C(1) << 32,
		.unresolved = 0.1,
		.faults = 0.1};
	g_autoptr(LodeProfile) profile = sample_profile_random(&random);
	LodeMemoryHistogramOptions options = default_options(LODE_VIEW_CSV);
	double expected = 0, weight = 0;

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		if (lode_address_histogram_counts(profile, sample))
			expected += sample->weight;
	}
	g_autofree char *text = write_view(profile, &options);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	for (guint i = 1; i < rows->len; i++)
		weight += g_ascii_strtod(sample_cell(rows, i, "weight"), NULL);
	g_assert_cmpfloat(weight, ==, expected);
	options.format = LODE_VIEW_TEXT;
	g_autofree char *screen = write_view(profile, &options);
	g_assert_nonnull(strstr(screen, "192 more threads"));
}

static void assert_json(const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;

	json_parser_load_from_data(parser, text, -1, &error);
	g_assert_no_error(error);
}

/* No samples; one sample; both ends of the address space. */
static void test_extremes(void)
{
	for (int n = 0; n < 3; n++) {
		g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x1000);
		if (n > 0)
			sample_profile_access(
				profile, 0, n == 1 ? SAMPLE_ANON : 0, LODE_ACCESS_LOAD, 0);
		if (n > 1)
			sample_profile_access(profile, 0, UINT64_MAX, LODE_ACCESS_STORE, 0);
		for (uint64_t granularity = 1; granularity <= UINT64_C(1) << 40;
			granularity <<= 13) {
			LodeMemoryHistogramOptions options = default_options(LODE_VIEW_TEXT);
			options.granularity = granularity;
			g_autofree char *text = write_view(profile, &options);
			g_assert_cmpint(
				strstr(text, "No sample with a data address") != NULL, ==, n == 0);
			g_assert_cmpint(strstr(text, "0xffffffffffffffff") != NULL, ==, n == 2);
			options.format = LODE_VIEW_JSON;
			g_autofree char *json = write_view(profile, &options);
			assert_json(json);
		}
	}
}

static void test_full_disk(void)
{
	g_autoptr(LodeProfile) profile = small_profile();
	LodeMemoryHistogramOptions options = default_options(LODE_VIEW_TEXT);
	g_autoptr(GError) error = NULL;
	const uint32_t first = 0;
	FILE *full = fopen("/dev/full", "w");

	if (full == NULL) {
		g_test_skip("no /dev/full");
		return;
	}
	g_assert_false(lode_memory_histogram_write(profile, &first, 1, &options, full, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	fclose(full);
}

/* One access of 201 does not name the place. */
static void test_light_objects(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x1000);
	LodeMemoryHistogramOptions options = default_options(LODE_VIEW_TEXT);

	for (int i = 0; i < 200; i++)
		sample_profile_access(profile, 0, SAMPLE_NODES + 8, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4);
	g_autofree char *text = write_view(profile, &options);
	g_assert_nonnull(strstr(text, "struct node.key 99.5 %, 1 more in [heap]"));
	g_assert_null(strstr(text, "struct node.next"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/memory_histogram/text", test_text);
	g_test_add_func("/memory_histogram/light_objects", test_light_objects);
	g_test_add_func("/memory_histogram/rows", test_rows);
	g_test_add_func("/memory_histogram/sums", test_sums);
	g_test_add_func("/memory_histogram/extremes", test_extremes);
	g_test_add_func("/memory_histogram/full_disk", test_full_disk);
	return g_test_run();
}
