/* SPDX-License-Identifier: MIT */
/* An event by code and by data object, in three forms, on profiles made by hand. */
#include "../analyses/memory/sample_profile.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "views/traces/event_table.h"

#include <string.h>

static LodeEventGroups *group(const LodeProfile *profile, const char *event, LodeEventBy by)
{
	uint32_t id = lode_profile_find_event(profile, event);

	g_assert_cmpuint(id, !=, LODE_NONE);
	return lode_event_groups_new(profile, id, by);
}

static const LodeEventGroup *group_at(const LodeEventGroups *groups, guint index)
{
	g_assert_cmpuint(index, <, groups->groups->len);
	return &g_array_index(groups->groups, LodeEventGroup, index);
}

static char *write_view(const LodeProfile *profile, const LodeEventGroups *groups,
	LodeViewFormat format, uint32_t top)
{
	const LodeEventTableOptions options = {.format = format, .top = top};
	g_autoptr(GError) error = NULL;
	FILE *out = sample_open();

	g_assert_true(lode_event_table_write(profile, groups, &options, out, &error));
	g_assert_no_error(error);
	return sample_close(out);
}

/* Cycles are derived; 20 of 750 are unresolved. */
static void test_functions(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeEventGroups) groups = group(profile, "cycles", LODE_EVENT_BY_FUNCTION);

	g_assert_cmpuint(groups->groups->len, ==, 2);
	g_assert_true(g_str_has_prefix(group_at(groups, 0)->name, "hot ("));
	g_assert_cmpfloat(group_at(groups, 0)->value, ==, 700);
	g_assert_cmpfloat(group_at(groups, 0)->executions, ==, 100);
	g_assert_cmpfloat(group_at(groups, 1)->value, ==, 30);
	g_assert_cmpfloat(groups->grouped, ==, 730);
	g_autofree char *text = write_view(profile, groups, LODE_VIEW_TEXT, 1);
	g_assert_nonnull(strstr(text, "hot ("));
	g_assert_null(strstr(text, "cold ("));
	g_assert_nonnull(strstr(text, "1 more: "));
	g_assert_nonnull(strstr(text, "unresolved: "));
}

static void test_instructions(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeEventGroups) groups = group(profile, "l1d-miss", LODE_EVENT_BY_INSTRUCTION);
	g_autofree char *csv = write_view(profile, groups, LODE_VIEW_CSV, 0);
	g_autoptr(GPtrArray) rows = sample_parse_csv(csv);

	g_assert_cmpuint(rows->len, ==, 2);
	g_assert_true(g_str_has_prefix(sample_cell(rows, 1, "name"), "hot+0x0 ("));
	g_assert_cmpstr(sample_cell(rows, 1, "value"), ==, "40");
	g_assert_cmpstr(sample_cell(rows, 1, "share"), ==, "1");
	g_assert_cmpstr(sample_cell(rows, 1, "executions"), ==, "100");
}

static void test_lines(void)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeEventGroups) groups = group(profile, "l1d-miss", LODE_EVENT_BY_LINE);

	lode_profile_instruction(profile, 0)->location = LODE_NONE;
	g_autoptr(LodeEventGroups) unknown = group(profile, "l1d-miss", LODE_EVENT_BY_LINE);
	g_assert_cmpuint(groups->groups->len, ==, 1);
	g_assert_nonnull(strchr(group_at(groups, 0)->name, ':'));
	g_assert_cmpstr(group_at(unknown, 0)->name, ==, "(no line known)");
	g_assert_cmpfloat(group_at(unknown, 0)->value, ==, 40);
}

static void test_objects(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x10000);
	LodeEvent *event = lode_profile_event(profile, SAMPLE_EVENT_CLOCK);

	for (uint32_t i = 0; i < 4; i++)
		sample_profile_access(profile, 0, SAMPLE_NODES + i * 24, LODE_ACCESS_LOAD, 4)
			->weight = 8;
	sample_profile_access(profile, 0, SAMPLE_DATA, LODE_ACCESS_STORE, 0)->weight = 3;
	sample_profile_access(profile, 0, SAMPLE_DATA, 3, 0)->weight = 2;
	sample_profile_access(profile, 0, SAMPLE_DATA, 1, 0)->object = LODE_NONE;
	sample_profile_fault(profile, 0, SAMPLE_ANON, 5, 0);
	event->total = 50;
	g_autoptr(LodeEventGroups) groups = group(profile, event->name, LODE_EVENT_BY_OBJECT);
	g_assert_cmpuint(groups->groups->len, ==, 3);
	g_assert_cmpstr(group_at(groups, 0)->name, ==, "struct node.next");
	g_assert_cmpfloat(group_at(groups, 0)->loads, ==, 32);
	g_assert_cmpfloat(group_at(groups, 1)->value, ==, 5);
	g_assert_cmpfloat(group_at(groups, 1)->stores, ==, 3);
	g_assert_cmpstr(group_at(groups, 2)->name, ==, "(no object known)");
	g_autofree char *json = write_view(profile, groups, LODE_VIEW_JSON, 2);
	g_assert_nonnull(strstr(json, "\"by\":\"object\""));
	g_assert_nonnull(
		strstr(json, "{\"name\":\"struct node.next\",\"value\":32,\"share\":0.64,"));
	g_assert_null(strstr(json, "no object known"));
}

static void test_threads(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 0x10000);
	LodeEvent *event = lode_profile_event(profile, SAMPLE_EVENT_CLOCK);

	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4)->weight = 3;
	sample_profile_access(profile, 1, SAMPLE_NODES, LODE_ACCESS_STORE, 4)->weight = 8;
	sample_profile_access(profile, 1, SAMPLE_DATA, LODE_ACCESS_LOAD, 0)->weight = 2;
	event->total = 13;
	g_autoptr(LodeEventGroups) groups = group(profile, event->name, LODE_EVENT_BY_THREAD);
	g_assert_cmpuint(groups->groups->len, ==, 2);
	g_assert_cmpstr(group_at(groups, 0)->name, ==, "1 worker");
	g_assert_cmpstr(group_at(groups, 1)->name, ==, "0 sample");
	g_assert_cmpfloat(group_at(groups, 0)->value, ==, 10);
	g_assert_cmpfloat(group_at(groups, 0)->stores, ==, 8);
	g_assert_cmpfloat(group_at(groups, 1)->loads, ==, 3);
}

static void test_none(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x10000);
	g_autoptr(LodeEventGroups)
		groups = lode_event_groups_new(profile, SAMPLE_EVENT_FAULTS, LODE_EVENT_BY_OBJECT);
	g_autofree char *text = write_view(profile, groups, LODE_VIEW_TEXT, 0);

	g_assert_nonnull(strstr(text, "None."));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/event_table/functions", test_functions);
	g_test_add_func("/views/event_table/instructions", test_instructions);
	g_test_add_func("/views/event_table/lines", test_lines);
	g_test_add_func("/views/event_table/objects", test_objects);
	g_test_add_func("/views/event_table/threads", test_threads);
	g_test_add_func("/views/event_table/none", test_none);
	return g_test_run();
}
