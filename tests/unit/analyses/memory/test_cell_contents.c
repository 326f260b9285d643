/* SPDX-License-Identifier: MIT */
/* What lies in cells of addresses: what has one name is one thing there. */
#include "analyses/memory/cells/cell_contents.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "seeds.h"

/* A copy of an object that differs in its mapping, which is not shown. */
static uint32_t add_twin(LodeProfile *profile, uint32_t object)
{
	GArray *objects = profile->memory->objects;
	LodeDataObject twin = LODE_AT(objects, LodeDataObject, object);

	twin.mapping = lode_profile_intern(profile, "[elsewhere]");
	g_array_append_val(objects, twin);
	return objects->len - 1;
}

static LodeCellContents *contents_of(const LodeProfile *profile, uint64_t granularity)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(all, i);
	return lode_cell_contents_new(
		profile, (const uint32_t *)(void *)all->data, all->len, granularity);
}

static void add_access(LodeProfile *profile, uint64_t address, double weight, uint32_t object)
{
	LodeMemorySample *sample = sample_profile_access(profile, 0, address, LODE_ACCESS_LOAD, 0);

	sample->weight = weight;
	sample->object = object;
}

static void test_one_name(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 20);
	uint32_t twin = add_twin(profile, SAMPLE_OBJECT_BUFFER);
	g_autoptr(LodeCellContents) contents = NULL;
	g_autoptr(GArray) found = NULL;
	LodeContent most;

	add_access(profile, SAMPLE_BUFFER, 4, SAMPLE_OBJECT_BUFFER);
	add_access(profile, SAMPLE_BUFFER + 8, 5, SAMPLE_OBJECT_ANON);
	add_access(profile, SAMPLE_BUFFER + 16, 3, twin);
	contents = contents_of(profile, 4096);
	found = lode_cell_contents_between(contents, LODE_NONE, SAMPLE_BUFFER, SAMPLE_BUFFER);
	g_assert_cmpuint(found->len, ==, 2);
	g_assert_cmpstr(lode_content_name(profile, &g_array_index(found, LodeContent, 0)), ==,
		"malloc@sample.c:12");
	g_assert_cmpfloat(g_array_index(found, LodeContent, 0).weight, ==, 7);
	g_assert_cmpfloat(g_array_index(found, LodeContent, 1).weight, ==, 5);
	most = lode_cell_contents_main(contents, LODE_NONE, SAMPLE_BUFFER);
	g_assert_cmpstr(lode_content_name(profile, &most), ==, "malloc@sample.c:12");
	g_assert_cmpfloat(most.weight, ==, 7);
}

/* Of a thread, or of all: the weight in each cell is that of its samples. */
static void check_cell(const LodeProfile *profile, const LodeCellContents *contents,
	uint32_t thread, uint64_t first, uint64_t last)
{
	g_autoptr(GArray) found = lode_cell_contents_between(contents, thread, first, last);
	double expected = 0, sum = 0;

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		if (sample->rule != LODE_RULE_NONE && sample->event != SAMPLE_EVENT_FAULTS &&
			sample->address >= first && sample->address <= last &&
			(thread == LODE_NONE || sample->thread == thread))
			expected += sample->weight;
	}
	for (guint i = 0; i < found->len; i++) {
		const LodeContent *content = &g_array_index(found, LodeContent, i);
		sum += content->weight;
		g_assert_true(i == 0 ||
			      g_array_index(found, LodeContent, i - 1).weight >= content->weight);
	}
	g_assert_cmpfloat_with_epsilon(sum, expected, 1e-6 * (1 + expected));
}

static void test_random(void)
{
	SampleProfileOptions options = {.seed = (uint32_t)random_int(),
		.n_threads = 5,
		.n_samples = 4000,
		.anon_bytes = 1 << 20,
		.unresolved = 0.1,
		.faults = 0.1};
	g_autoptr(LodeProfile) profile = sample_profile_random(&options);

	for (uint64_t granularity = 1; granularity <= 1 << 16; granularity <<= 4) {
		g_autoptr(LodeCellContents) contents = contents_of(profile, granularity);
		for (uint32_t thread = 0; thread <= 5; thread++) {
			uint32_t of = thread < 5 ? thread : LODE_NONE;
			check_cell(profile, contents, of, 0, UINT64_MAX);
			check_cell(profile, contents, of, SAMPLE_NODES,
				SAMPLE_NODES + SAMPLE_NODES_SIZE - 1);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/cell_contents/one_name", test_one_name);
	add_random_test(
		"/cell_contents/random", test_random, "R02S00000000000000000000000000000003", NULL);
	return g_test_run();
}
