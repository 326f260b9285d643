/* SPDX-License-Identifier: MIT */
/* Pivots, layouts and coverage in their three forms, on a profile made by hand. */
#include "../analyses/memory/sample_profile.h"
#include "analyses/memory/coverage.h"
#include "golden_text.h"
#include "sample_profile.h"
#include "views/memory/memory_coverage.h"
#include "views/memory/memory_views.h"

#include <string.h>

typedef struct {
	LodeProfile *profile;
	GArray *all;
	LodeMemoryNotes notes;
} Fixture;

/* List nodes that three threads walk, a buffer that one fills, stranger's names, no address. */
static LodeProfile *make_profile(void)
{
	LodeProfile *profile = sample_profile_new(3, 0x40000);

	for (uint32_t i = 0; i < 12; i++) {
		LodeMemorySample *sample = sample_profile_access(
			profile, i % 3, SAMPLE_NODES + i * 24, LODE_ACCESS_LOAD, 4 + i % 3);
		sample->latency = 20 + i;
		sample->data_source = UINT64_C(1) << 33;
	}
	for (uint32_t i = 0; i < 5; i++) {
		LodeMemorySample *sample = sample_profile_access(
			profile, 1, SAMPLE_NODES + i * 24 + 8, LODE_ACCESS_STORE, 6);
		sample->weight = 0.5;
		sample->size = i == 4 ? 16 : 8;
		sample->data_source = UINT64_C(13) << 33;
	}
	for (uint32_t i = 0; i < 7; i++)
		sample_profile_access(profile, 2, SAMPLE_BUFFER + i * 512, LODE_ACCESS_STORE, 1);
	sample_profile_access(profile, 0, SAMPLE_DATA, 3, 0)->is_unverified = true;
	sample_profile_access(profile, 0, 16, LODE_ACCESS_LOAD, 0);
	sample_profile_fault(profile, 0, SAMPLE_ANON, 5, 0);
	sample_profile_unresolved(profile, 2, LODE_REASON_NO_DECODE);
	lode_profile_function(profile, SAMPLE_FILL)->name = lode_profile_intern(
		profile, "fill<\x1b[31m, \"日本\">");
	return profile;
}

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->profile = make_profile();
	self->all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < self->profile->memory->samples->len; i++)
		g_array_append_val(self->all, i);
	lode_memory_notes_init(&self->notes, self->profile,
		(const uint32_t *)(void *)self->all->data, self->all->len);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_memory_notes_clear(&self->notes);
	g_array_unref(self->all);
	lode_profile_free(self->profile);
}

static const uint32_t *samples_of(const Fixture *self)
{
	return (const uint32_t *)(void *)self->all->data;
}

static void check_pivot(Fixture *self, const char *golden, const LodePivotOptions *pivot_options,
	LodeViewFormat format, LodeTerminal terminal)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePivot) pivot = lode_pivot_new(
		self->profile, samples_of(self), self->all->len, pivot_options, &error);
	LodeMemoryViewOptions options = {format, terminal, &self->notes};
	FILE *file = sample_open();

	g_assert_no_error(error);
	g_assert_true(lode_memory_pivot_write(self->profile, pivot, &options, file, &error));
	g_autofree char *text = sample_close(file);
	golden_assert(golden, text);
}

static void test_pivot(Fixture *self, const void *data)
{
	static const LodePivotOptions by_type = {.by = {"type", "line"}, .n_levels = 2};
	static const LodePivotOptions by_page = {
		.by = {"page", "function", "is_load"}, .n_levels = 3, .top = 1};
	static const LodePivotOptions by_thread = {
		.by = {"thread", "latency / 10"}, .n_levels = 2, .sort = LODE_PIVOT_SORT_KEY};
	LodeTerminal pipe = {0}, narrow = {.width = 40, .is_ascii = true};

	(void)data;
	check_pivot(self, "memory_pivot.txt", &by_type, LODE_VIEW_TEXT, pipe);
	check_pivot(self, "memory_pivot_narrow.txt", &by_page, LODE_VIEW_TEXT, narrow);
	check_pivot(self, "memory_pivot.json", &by_page, LODE_VIEW_JSON, pipe);
	check_pivot(self, "memory_pivot_number.json", &by_thread, LODE_VIEW_JSON, pipe);
	check_pivot(self, "memory_pivot.csv", &by_page, LODE_VIEW_CSV, pipe);
}

static void check_layout(Fixture *self, const char *golden, const char *type, LodeViewFormat format,
	LodeTerminal terminal)
{
	g_autoptr(GError) error = NULL;
	const LodeTypeLayoutOptions what = {.type = type};
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(
		self->profile, samples_of(self), self->all->len, &what, &error);
	LodeMemoryViewOptions options = {format, terminal, &self->notes};
	FILE *file = sample_open();

	g_assert_no_error(error);
	g_assert_true(lode_memory_layout_write(self->profile, layouts, &options, file, &error));
	g_autofree char *text = sample_close(file);
	golden_assert(golden, text);
}

static void test_layout(Fixture *self, const void *data)
{
	LodeTerminal pipe = {0}, narrow = {.width = 50, .is_ascii = true};

	(void)data;
	check_layout(self, "memory_layout.txt", "node", LODE_VIEW_TEXT, pipe);
	check_layout(self, "memory_layout_no_members.txt", "int", LODE_VIEW_TEXT, pipe);
	check_layout(self, "memory_layout_narrow.txt", "struct node", LODE_VIEW_TEXT, narrow);
	check_layout(self, "memory_layout.json", "node", LODE_VIEW_JSON, pipe);
	check_layout(self, "memory_layout.csv", "node", LODE_VIEW_CSV, pipe);
}

/* The layout's text of struct node with its first member alone, when it has so many bytes. */
static char *text_of_size(Fixture *self, uint64_t size)
{
	g_autoptr(GError) error = NULL;
	GArray *types = self->profile->memory->types;
	FILE *file = sample_open();

	for (guint i = 0; i < types->len; i++) {
		LodeDataType *type = &g_array_index(types, LodeDataType, i);
		if (strcmp(type->name, "struct node") != 0)
			continue;
		type->n_members = 1;
		type->size = size;
	}
	const LodeTypeLayoutOptions what = {.type = "node"};
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(
		self->profile, samples_of(self), self->all->len, &what, &error);
	g_assert_no_error(error);
	LodeMemoryViewOptions options = {LODE_VIEW_TEXT, {0}, &self->notes};
	g_assert_true(lode_memory_layout_write(self->profile, layouts, &options, file, &error));
	return sample_close(file);
}

/* Only a type that fills its lines can have one to itself. */
static void test_line_to_itself(Fixture *self, const void *data)
{
	(void)data;
	g_autofree char *packed = text_of_size(self, 8);
	g_assert_null(strstr(packed, "to itself"));
	g_assert_nonnull(strstr(packed, "8 of them fit in a line"));
	g_autofree char *uneven = text_of_size(self, 72);
	g_assert_null(strstr(uneven, "to itself"));
	g_assert_null(strstr(uneven, "of them fit"));
	g_assert_nonnull(strstr(uneven, "does not fill its lines"));
	g_autofree char *filling = text_of_size(self, 128);
	g_assert_nonnull(strstr(filling, "has its line to itself"));
	g_assert_null(strstr(filling, "does not fill"));
}

static void test_several_layouts(Fixture *self, const void *data)
{
	LodeDataType other = {.name = "class node", .size = 8};

	(void)data;
	g_array_append_val(self->profile->memory->types, other);
	check_layout(self, "memory_layout_several.txt", "node", LODE_VIEW_TEXT, (LodeTerminal){0});
}

static void check_coverage(Fixture *self, const char *golden, LodeViewFormat format)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) coverage = lode_memory_coverage_new(
		self->profile, samples_of(self), self->all->len);
	LodeMemoryViewOptions options = {.format = format, .notes = &self->notes};
	FILE *file = sample_open();

	g_assert_true(lode_memory_coverage_write(self->profile, coverage, &options, file, &error));
	g_autofree char *text = sample_close(file);
	golden_assert(golden, text);
}

static void test_coverage(Fixture *self, const void *data)
{
	(void)data;
	check_coverage(self, "memory_coverage.txt", LODE_VIEW_TEXT);
	check_coverage(self, "memory_coverage.json", LODE_VIEW_JSON);
	check_coverage(self, "memory_coverage.csv", LODE_VIEW_CSV);
}

static void test_nothing(Fixture *self, const void *data)
{
	static const LodePivotOptions by_type = {.by = {"type"}, .n_levels = 1};

	(void)data;
	g_array_set_size(self->all, 0);
	lode_memory_notes_clear(&self->notes);
	lode_memory_notes_init(&self->notes, self->profile, samples_of(self), 0);
	check_pivot(self, "memory_pivot_nothing.txt", &by_type, LODE_VIEW_TEXT, (LodeTerminal){0});
	check_layout(self, "memory_layout_nothing.txt", "node", LODE_VIEW_TEXT, (LodeTerminal){0});
	check_coverage(self, "memory_coverage_nothing.txt", LODE_VIEW_TEXT);
}

/* Some of the samples are accesses in windows: no time, whatever else is there. */
static void test_windows(Fixture *self, const void *data)
{
	static const LodePivotOptions by_type = {.by = {"type"}, .n_levels = 1};
	GArray *samples = self->profile->memory->samples;
	uint32_t event = lode_profile_add_event(
		self->profile, LODE_WINDOW_ACCESSES, NULL, LODE_EVENT_SAMPLED, NULL, 0);

	(void)data;
	for (guint i = 0; i < 8; i++) {
		LODE_AT(samples, LodeMemorySample, i).event = event;
		LODE_AT(samples, LodeMemorySample, i).rule = LODE_RULE_WINDOW;
	}
	lode_memory_notes_clear(&self->notes);
	lode_memory_notes_init(
		&self->notes, self->profile, samples_of(self) + 8, self->all->len - 8);
	g_assert_true(self->notes.is_stall_weighted);
	g_assert_false(self->notes.is_of_windows);
	g_assert_cmpstr(self->notes.other_names, ==, LODE_WINDOW_ACCESSES);
	g_array_set_size(self->all, 8);
	lode_memory_notes_clear(&self->notes);
	lode_memory_notes_init(&self->notes, self->profile, samples_of(self), 8);
	g_assert_false(self->notes.is_stall_weighted);
	g_assert_true(self->notes.is_of_windows);
	check_pivot(self, "memory_pivot_windows.txt", &by_type, LODE_VIEW_TEXT, (LodeTerminal){0});
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} tests[] = {
		{"/memory_groups/pivot", test_pivot},
		{"/memory_groups/layout", test_layout},
		{"/memory_groups/several_layouts", test_several_layouts},
		{"/memory_groups/line_to_itself", test_line_to_itself},
		{"/memory_groups/coverage", test_coverage},
		{"/memory_groups/nothing", test_nothing},
		{"/memory_groups/windows", test_windows},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].run, tear_down);
	return g_test_run();
}
