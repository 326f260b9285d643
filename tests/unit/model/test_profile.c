/* SPDX-License-Identifier: MIT */
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <string.h>

static void test_intern(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	char text[] = "main";
	char *first = lode_profile_intern(profile, text);

	g_assert_null(lode_profile_intern(profile, NULL));
	g_assert_true(first != text);
	text[0] = 'p';
	g_assert_cmpstr(first, ==, "main");
	g_assert_true(lode_profile_intern(profile, "main") == first);
	g_assert_true(lode_profile_intern(profile, text) != first);
}

static void test_attributes(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	g_assert_cmpuint(lode_profile_attribute(profile, "op:add"), ==, 0);
	g_assert_cmpuint(lode_profile_attribute(profile, "kind:load"), ==, 1);
	g_assert_cmpuint(lode_profile_attribute(profile, "op:add"), ==, 0);
	g_assert_cmpuint(lode_profile_attribute(profile, ""), ==, 2);
	g_assert_cmpuint(profile->code.attributes->len, ==, 3);
	g_assert_cmpstr(g_ptr_array_index(profile->code.attributes, 1), ==, "kind:load");
}

static void test_attribute_sets(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	uint32_t in_order[] = {1, 4, 9}, mixed[] = {9, 1, 9, 4, 1}, shorter[] = {1, 4};

	g_assert_cmpuint(lode_profile_attribute_set(profile, NULL, 0), ==, 0);
	g_assert_cmpuint(lode_profile_attribute_set(profile, mixed, 5), ==, 1);
	g_assert_cmpuint(mixed[0], ==, 9);
	g_assert_cmpuint(lode_profile_attribute_set(profile, in_order, 3), ==, 1);
	g_assert_cmpuint(lode_profile_attribute_set(profile, shorter, 2), ==, 2);
	g_assert_cmpuint(lode_profile_attribute_set(profile, NULL, 0), ==, 0);
	LodeAttributeSet set = LODE_AT(profile->code.attribute_sets, LodeAttributeSet, 1);
	g_assert_cmpuint(set.n, ==, 3);
	for (uint32_t i = 0; i < set.n; i++)
		g_assert_cmpuint(LODE_AT(profile->code.set_members, uint32_t, set.first + i), ==,
			in_order[i]);
	g_assert_cmpuint(profile->code.set_members->len, ==, 5);
}

/* Of sets by number, name, beginning of a name, and marks. */
static void test_look_ups(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	static const LodeAttributeMark marks[] = {
		{"kind:load", 1}, {"op:*", 2}, {"stride:8", 4}, {"*:store", 8}};
	const uint32_t load = lode_profile_attribute(profile, "kind:load"),
		       add = lode_profile_attribute(profile, "op:add"),
		       stride = lode_profile_attribute(profile, "stride:64");
	const uint32_t both[] = {stride, load, add};

	g_assert_cmpuint(lode_profile_attribute_set(profile, NULL, 0), ==, 0);
	g_assert_cmpuint(lode_profile_attribute_set(profile, both, 3), ==, 1);
	g_assert_cmpuint(lode_profile_attribute_set(profile, &add, 1), ==, 2);
	g_assert_cmpuint(lode_profile_find_attribute(profile, "op:add"), ==, add);
	g_assert_cmpuint(lode_profile_find_attribute(profile, "op:sub"), ==, LODE_NONE);
	g_assert_cmpstr(lode_profile_attribute_name(profile, stride), ==, "stride:64");
	g_assert_true(lode_profile_set_has(profile, 1, "kind:load"));
	g_assert_false(lode_profile_set_has(profile, 2, "kind:load"));
	g_assert_false(lode_profile_set_has(profile, 1, "op:sub"));
	g_assert_false(lode_profile_set_has(profile, 0, "op:add"));
	g_assert_cmpstr(lode_profile_set_value(profile, 1, "stride:"), ==, "64");
	g_assert_null(lode_profile_set_value(profile, 2, "stride:"));
	g_autofree uint16_t *sets = lode_profile_mark_sets(profile, marks, G_N_ELEMENTS(marks));
	g_assert_cmpuint(sets[0], ==, 0);
	g_assert_cmpuint(sets[1], ==, 3);
	g_assert_cmpuint(sets[2], ==, 2);
	uint32_t n;
	const uint32_t *members = lode_profile_set_members(profile, 1, &n);
	g_assert_true(n == 3 && members[0] == load && members[1] == add && members[2] == stride);
}

static void test_many_attribute_sets(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t members[] = {i + 1, i * 7 % 3000, i};
			uint32_t again[] = {i * 7 % 3000, i, i + 1};
			uint32_t id = lode_profile_attribute_set(profile, members, 3);
			g_assert_cmpuint(lode_profile_attribute_set(profile, again, 3), ==, id);
		}
	for (guint i = 1; i < profile->code.attribute_sets->len; i++) {
		LodeAttributeSet set = LODE_AT(profile->code.attribute_sets, LodeAttributeSet, i);
		g_assert_cmpuint(
			lode_profile_attribute_set(profile,
				&LODE_AT(profile->code.set_members, uint32_t, set.first), set.n),
			==, i);
	}
}

static void test_locations(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	char file[] = "a.c";

	g_assert_cmpuint(lode_profile_location(profile, file, 1, NULL), ==, 0);
	g_assert_cmpuint(lode_profile_location(profile, "a.c", 2, NULL), ==, 1);
	g_assert_cmpuint(lode_profile_location(profile, "a.c", 1, "f"), ==, 2);
	g_assert_cmpuint(lode_profile_location(profile, NULL, 1, NULL), ==, 3);
	g_assert_cmpuint(lode_profile_location(profile, NULL, 0, "a.c"), ==, 4);
	g_assert_cmpuint(lode_profile_location(profile, "a.c", 1, NULL), ==, 0);
	g_assert_cmpuint(lode_profile_location(profile, "a.c", 1, "f"), ==, 2);
	file[0] = 'b';
	g_assert_cmpstr(LODE_AT(profile->code.locations, LodeLocation, 0).file, ==, "a.c");
	g_assert_cmpuint(profile->code.locations->len, ==, 5);
}

/* Two instructions; recorded events 1 and 2, derived event 3 = 10·count + 2·event 2. */
static LodeProfile *make_valued_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	LodeEventTerm terms[] = {{0, 10}, {2, 2}};
	LodeInstruction instructions[2] = {{.count = 5}, {.count = 7}};
	LodeCost costs[] = {{1, 100}, {2, 30}, {2, 0.5}};
	uint32_t starts[] = {2, 3};

	lode_profile_add_event(profile, "executions", NULL, LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(profile, "Ir", "instructions", LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_add_event(profile, "Dr", NULL, LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_add_event(profile, "cycles", NULL, LODE_EVENT_DERIVED, terms, 2);
	terms[0].factor = 99;
	g_array_append_vals(profile->code.instructions, instructions, 2);
	g_array_append_vals(profile->code.costs, costs, 3);
	g_array_append_vals(profile->code.cost_starts, starts, 2);
	return profile;
}

/* Nearly all are in functions that are not inlined. */
static void test_many_inlinings(void)
{
	enum { MANY = 300000 };
	g_autoptr(LodeProfile) profile = lode_profile_new();

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++)
			g_assert_cmpuint(lode_profile_inlining(profile, i, LODE_NONE), ==, i);
	g_assert_cmpuint(lode_profile_inlining(profile, 0, 0), ==, MANY);
	g_assert_cmpuint(lode_profile_inlining(profile, 0, 1), ==, MANY + 1);
	g_assert_cmpuint(profile->code.inlinings->len, ==, MANY + 2);
}

static void test_event_values(void)
{
	static const double expected[4][2] = {{5, 7}, {100, 0}, {30, 0.5}, {110, 71}};
	g_autoptr(LodeProfile) profile = make_valued_profile();

	for (uint32_t event = 0; event < 4; event++)
		for (uint32_t i = 0; i < 2; i++)
			g_assert_cmpfloat(lode_profile_event_value(profile, event, i), ==,
				expected[event][i]);
}

static void test_find_event(void)
{
	g_autoptr(LodeProfile) profile = make_valued_profile();

	g_assert_cmpuint(lode_profile_find_event(profile, "cycles"), ==, 3);
	g_assert_cmpuint(lode_profile_find_event(profile, "executions"), ==, 0);
	g_assert_cmpuint(lode_profile_find_event(profile, "Cycles"), ==, LODE_NONE);
	const LodeEvent *event = lode_profile_event(profile, 1);
	g_assert_cmpstr(event->description, ==, "instructions");
	g_assert_null(event->terms);
}

static void test_unresolved(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	lode_profile_add_unresolved(profile, "no image", "/bin/a", 1, 10);
	lode_profile_add_unresolved(profile, "no bounds", NULL, 2, 20);
	lode_profile_add_unresolved(profile, "no image", "/bin/b", 3, 30);
	g_assert_cmpuint(profile->unresolved->len, ==, 2);
	const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, 0);
	g_assert_cmpstr(row->reason, ==, "no image");
	g_assert_cmpstr(row->example, ==, "/bin/a");
	g_assert_cmpfloat(row->count, ==, 4);
	g_assert_cmpfloat(row->weight, ==, 40);
	g_assert_cmpuint(row->places, ==, 2);
	g_assert_null(row[1].example);
}

#define ASSERT_WORDS(type, noun, last)                                                             \
	for (int i = 0; i <= (int)(last); i++)                                                     \
		g_assert_cmpint(lode_##noun##_from_text(lode_##noun##_to_text((type)i)), ==, i);   \
	g_assert_cmpint(lode_##noun##_from_text("no such word"), ==, -1);                          \
	g_assert_cmpint(lode_##noun##_from_text(""), ==, -1)

static void test_words(void)
{
	ASSERT_WORDS(LodeFrequency, frequency, LODE_FREQUENCY_GIVEN);
	ASSERT_WORDS(LodeEventKind, event_kind, LODE_EVENT_DERIVED);
	ASSERT_WORDS(LodeImageKind, image_kind, LODE_IMAGE_JAVA);
	ASSERT_WORDS(LodeFunctionSource, function_source, LODE_FUNCTION_GIVEN);
	ASSERT_WORDS(LodeEdgeKind, edge_kind, LODE_EDGE_GIVEN);
	g_assert_cmpstr(lode_image_kind_to_text(LODE_IMAGE_JIT), ==, "jit");
	g_assert_cmpstr(lode_edge_kind_to_text(LODE_EDGE_FALL_THROUGH), ==, "fall-through");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/profile/intern", test_intern);
	g_test_add_func("/profile/attributes", test_attributes);
	g_test_add_func("/profile/attribute_sets", test_attribute_sets);
	g_test_add_func("/profile/look_ups", test_look_ups);
	g_test_add_func("/profile/many_attribute_sets", test_many_attribute_sets);
	g_test_add_func("/profile/locations", test_locations);
	g_test_add_func("/profile/many_inlinings", test_many_inlinings);
	g_test_add_func("/profile/event_values", test_event_values);
	g_test_add_func("/profile/find_event", test_find_event);
	g_test_add_func("/profile/unresolved", test_unresolved);
	g_test_add_func("/profile/words", test_words);
	lode_profile_free(NULL);
	return g_test_run();
}
