/* SPDX-License-Identifier: MIT */
/* What lies in cells of addresses: what has one name is one thing there. */
#include "analyses/memory/cell_contents.h"
#include "sample_profile.h"

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

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/cell_contents/one_name", test_one_name);
	return g_test_run();
}
