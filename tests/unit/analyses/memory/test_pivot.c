/* SPDX-License-Identifier: MIT */
/* Groups of samples: against a naive count, and by hand where order and cutting matter. */
#include "analyses/memory/objects/pivot.h"
#include "analyses/memory/sample_filter.h"
#include "base/error.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "seeds.h"

#include <string.h>

static GArray *all_samples(const LodeProfile *profile)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(all, i);
	return all;
}

static LodePivot *pivot_of(const LodeProfile *profile, const LodePivotOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) all = all_samples(profile);
	LodePivot *pivot = lode_pivot_new(
		profile, (const uint32_t *)(void *)all->data, all->len, options, &error);

	g_assert_no_error(error);
	return pivot;
}

static const LodePivotRow *row_at(const LodePivot *pivot, guint i)
{
	g_assert_cmpuint(i, <, pivot->rows->len);
	return &g_array_index(pivot->rows, LodePivotRow, i);
}

static char *name_at(const LodePivot *pivot, guint i)
{
	GString *name = g_string_new(NULL);

	lode_pivot_append_name(pivot, row_at(pivot, i), name);
	return g_string_free(name, FALSE);
}

/* What the naive count calls a sample's groups: thread, then page. */
static void naive_names(const LodeProfile *profile, const LodeMemorySample *sample, char *names[2])
{
	const LodeThread *thread = &LODE_AT(profile->memory->threads, LodeThread, sample->thread);

	names[0] = g_strdup_printf("%u", thread->ordinal);
	names[1] = sample->rule == LODE_RULE_NONE
	                   ? g_strdup_printf("%s\t(none)", names[0])
	                   : g_strdup_printf("%s\t0x%" G_GINT64_MODIFIER "x", names[0],
				     sample->address / 4096 * 4096);
}

static void naive_add(GHashTable *groups, const char *name, const LodeMemorySample *sample)
{
	LodeAccessTotals *totals = g_hash_table_lookup(groups, name);

	if (totals == NULL) {
		totals = g_new0(LodeAccessTotals, 1);
		g_hash_table_insert(groups, g_strdup(name), totals);
	}
	totals->n_samples++;
	totals->weight += sample->weight;
	totals->n_loads += sample->access % 2;
	totals->n_stores += sample->access / 2;
}

static GHashTable *naive_groups(const LodeProfile *profile)
{
	GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		char *names[2];
		if (sample->event == SAMPLE_EVENT_FAULTS)
			continue;
		naive_names(profile, sample, names);
		naive_add(groups, names[0], sample);
		naive_add(groups, names[1], sample);
		g_free(names[0]);
		g_free(names[1]);
	}
	return groups;
}

static char *path_of(const LodePivot *pivot, guint i)
{
	const LodePivotRow *row = row_at(pivot, i);
	g_autofree char *name = name_at(pivot, i);

	if (row->parent == LODE_NONE)
		return g_steal_pointer(&name);
	g_autofree char *parent = name_at(pivot, row->parent);
	return g_strdup_printf("%s\t%s", parent, name);
}

static void test_against_naive(void)
{
	SampleProfileOptions profile_options = {.seed = 11,
		.n_threads = 5,
		.n_samples = 5000,
		.anon_bytes = 1 << 17,
		.unresolved = 0.15,
		.faults = 0.1};
	g_autoptr(LodeProfile) profile = sample_profile_random(&profile_options);
	LodePivotOptions options = {.by = {"thread", "page"}, .n_levels = 2};
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(5));

	for (guint i = 0; i < profile->memory->samples->len; i++)
		LODE_AT(profile->memory->samples, LodeMemorySample, i).weight =
			g_rand_int_range(rand, 0, 100) / 4.0;
	g_autoptr(LodePivot) pivot = pivot_of(profile, &options);
	g_autoptr(GHashTable) groups = naive_groups(profile);
	g_assert_cmpuint(pivot->rows->len, ==, g_hash_table_size(groups));
	g_assert_cmpuint(pivot->rows->len, >, 100);
	for (guint i = 0; i < pivot->rows->len; i++) {
		g_autofree char *path = path_of(pivot, i);
		const LodeAccessTotals *naive = g_hash_table_lookup(groups, path);
		const LodeAccessTotals *totals = &row_at(pivot, i)->totals;
		g_assert_nonnull(naive);
		g_assert_cmpuint(totals->n_samples, ==, naive->n_samples);
		g_assert_cmpuint(totals->n_loads, ==, naive->n_loads);
		g_assert_cmpuint(totals->n_stores, ==, naive->n_stores);
		g_assert_cmpfloat(totals->weight, ==, naive->weight);
	}
}

/* The rows below each row, and those of the first level, add up. */
static void check_sums(const LodePivot *pivot)
{
	g_autofree double *below = g_new0(double, pivot->rows->len + 1);
	double first = 0;

	for (guint i = 0; i < pivot->rows->len; i++) {
		const LodePivotRow *row = row_at(pivot, i);
		if (row->parent == LODE_NONE)
			first += row->totals.weight;
		else
			below[row->parent] += row->totals.weight;
	}
	g_assert_cmpfloat(first, ==, pivot->total.weight);
	for (guint i = 0; i < pivot->rows->len; i++)
		if (row_at(pivot, i)->level + 1 < pivot->n_levels &&
			row_at(pivot, i)->kind != LODE_PIVOT_OTHERS)
			g_assert_cmpfloat(below[i], ==, row_at(pivot, i)->totals.weight);
}

static void test_sums(void)
{
	SampleProfileOptions profile_options = {.seed = 12,
		.n_threads = 7,
		.n_samples = 4000,
		.anon_bytes = 1 << 16,
		.unresolved = 0.3};
	g_autoptr(LodeProfile) profile = sample_profile_random(&profile_options);
	static const LodePivotOptions cases[] = {
		{.by = {"object"}, .n_levels = 1},
		{.by = {"type", "line", "thread"}, .n_levels = 3, .top = 2},
		{.by = {"type", "member", "function", "address"}, .n_levels = 4, .top = 1},
		{.by = {"address"}, .n_levels = 1, .top = 3, .sort = LODE_PIVOT_SORT_KEY},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodePivot) pivot = pivot_of(profile, &cases[i]);
		g_assert_cmpuint(pivot->total.n_samples, ==, 4000);
		check_sums(pivot);
	}
}

/* Three lines of one type, a sample without any type. */
static LodeProfile *small_profile(void)
{
	LodeProfile *profile = sample_profile_new(12, 1 << 16);

	sample_profile_access(profile, 2, SAMPLE_NODES, LODE_ACCESS_LOAD, 4)->weight = 5;
	sample_profile_access(profile, 10, SAMPLE_NODES, LODE_ACCESS_STORE, 5)->weight = 5;
	sample_profile_access(profile, 9, SAMPLE_NODES + 8, LODE_ACCESS_LOAD, 6)->weight = 7;
	LODE_AT(profile->memory->samples, LodeMemorySample, 2).latency = 30;
	sample_profile_access(profile, 2, SAMPLE_ANON, 3, 4)->weight = 100;
	sample_profile_unresolved(profile, 2, LODE_REASON_BLOCKED);
	return profile;
}

static void check_order(const LodePivotOptions *options, const char *expected)
{
	g_autoptr(LodeProfile) profile = small_profile();
	g_autoptr(LodePivot) pivot = pivot_of(profile, options);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < pivot->rows->len; i++) {
		g_autofree char *name = name_at(pivot, i);
		g_string_append_printf(text, "%s%*s%s %g", i > 0 ? "|" : "",
			(int)row_at(pivot, i)->level, "", name, row_at(pivot, i)->totals.weight);
	}
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_order(void)
{
	static const char *const definitions[] = {"far=thread >= 10 ? 'far' : 'near'", NULL};
	static const struct {
		LodePivotOptions options;
		const char *expected;
	} cases[] = {
		/* What has no value is last, however heavy. */
		{{.by = {"type"}, .n_levels = 1}, "struct node 17|(none) 101"},
		{{.by = {"type", "line"}, .n_levels = 2, .top = 1},
			"struct node 17| /src/sample.c:22 7| (2 others) 10|"
			"(none) 101| /src/sample.c:20 100| (1 other) 1"},
		{{.by = {"thread"}, .n_levels = 1}, "2 106|9 7|10 5"},
		{{.by = {"thread"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_KEY}, "2 106|9 7|10 5"},
		{{.by = {"thread"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_LATENCY},
			"9 7|2 106|10 5"},
		{{.by = {"member"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_SAMPLES},
			"next 10|key 7|(none) 101"},
		{{.by = {"function"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_STORES},
			"walk 117|fill 1"},
		{{.by = {"far"}, .n_levels = 1, .definitions = definitions}, "near 113|far 5"},
		{{.by = {"address >> 20"}, .n_levels = 1}, "0x7f00000 100|0x100 17|(none) 1"},
		{{.by = {"is_load"}, .n_levels = 1}, "yes 112|no 6"},
		{{.by = {"weight / 2"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_KEY},
			"0.5 1|2.5 10|3.5 7|50 100"},
		{{.by = {"none"}, .n_levels = 1}, "(none) 118"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		check_order(&cases[i].options, cases[i].expected);
}

/* A string instruction's two rows are one sample, unless they fall into different groups. */
static void test_two_operands(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	LodePivotOptions by_event = {.by = {"event"}, .n_levels = 1};
	LodePivotOptions by_access = {.by = {"access"}, .n_levels = 1};

	for (int i = 0; i < 3; i++) {
		sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4)->weight = 0.5;
		LodeMemorySample *second = sample_profile_access(
			profile, 0, SAMPLE_ANON, LODE_ACCESS_STORE, 4);
		second->weight = 0.5;
		second->operand = 1;
	}
	g_autoptr(LodePivot) one = pivot_of(profile, &by_event);
	g_assert_cmpuint(one->rows->len, ==, 1);
	g_assert_cmpuint(row_at(one, 0)->totals.n_samples, ==, 3);
	g_assert_cmpuint(row_at(one, 0)->totals.n_loads, ==, 3);
	g_assert_cmpuint(row_at(one, 0)->totals.n_stores, ==, 3);
	g_assert_cmpfloat(row_at(one, 0)->totals.weight, ==, 3);
	g_autoptr(LodePivot) two = pivot_of(profile, &by_access);
	g_assert_cmpuint(two->rows->len, ==, 2);
	g_assert_cmpuint(row_at(two, 0)->totals.n_samples, ==, 3);
	g_assert_cmpuint(row_at(two, 1)->totals.n_samples, ==, 3);
	g_assert_cmpuint(two->total.n_samples, ==, 3);
}

static void test_faults(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	LodePivotOptions options = {.by = {"event"}, .n_levels = 1};

	sample_profile_fault(profile, 0, SAMPLE_ANON, 5, 0);
	g_autoptr(LodePivot) faults = pivot_of(profile, &options);
	g_assert_cmpuint(faults->total.n_samples, ==, 1);
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	g_autoptr(LodePivot) accesses = pivot_of(profile, &options);
	g_assert_cmpuint(accesses->total.n_samples, ==, 1);
	g_autofree char *name = name_at(accesses, 0);
	g_assert_cmpstr(name, ==, "cpu-clock");
}

static void test_processes(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	LodeThread other = {.pid = 200, .tid = 200, .ordinal = 0};
	LodePivotOptions options = {.by = {"thread"}, .n_levels = 1, .sort = LODE_PIVOT_SORT_KEY};

	g_array_append_val(profile->memory->threads, other);
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	g_autoptr(LodePivot) pivot = pivot_of(profile, &options);
	/* Thread 0 of one process is not thread 0 of the other. */
	g_assert_cmpuint(pivot->rows->len, ==, 2);
	g_autofree char *first = name_at(pivot, 0), *second = name_at(pivot, 1);
	g_assert_cmpstr(first, ==, "100.0");
	g_assert_cmpstr(second, ==, "200.0");
}

/* Code of std::vector that is inlined is of the line that it is inlined in, also for filters. */
static void test_own_lines(void)
{
	static const char *const globs[] = {"*/stl_*.h", NULL};
	static const char inner[] = "/usr/include/c++/12/bits/stl_vector.h:1123";
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	LodePivotOptions options = {.by = {"line"}, .n_levels = 1};
	LodeSampleFilterOptions filter = {.where = "line == 10 && basename(file) == 'sample.c'"};
	g_autoptr(GError) error = NULL;

	sample_profile_inline_vector(profile, 0);
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	g_autoptr(LodePivot) pivot = pivot_of(profile, &options);
	options.own = globs;
	g_autoptr(LodePivot) of_globs = pivot_of(profile, &options);
	g_autofree char *own = name_at(pivot, 0), *innermost = name_at(of_globs, 0);
	g_assert_cmpstr(own, ==, "/src/sample.c:10");
	g_assert_cmpstr(innermost, ==, inner);
	g_autoptr(GArray) chosen = lode_sample_filter_apply(profile, &filter, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(chosen->len, ==, 1);
	filter.own = globs;
	g_autoptr(GArray) none = lode_sample_filter_apply(profile, &filter, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(none->len, ==, 0);
}

static void test_empty(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	LodePivotOptions options = {.by = {"type", "line"}, .n_levels = 2, .top = 3};
	g_autoptr(LodePivot) pivot = pivot_of(profile, &options);

	g_assert_cmpuint(pivot->rows->len, ==, 0);
	g_assert_cmpuint(pivot->total.n_samples, ==, 0);
}

static void test_errors(void)
{
	static const char *const definitions[] = {"type=3", NULL};
	static const struct {
		LodePivotOptions options;
		const char *message;
	} cases[] = {
		{{.by = {"typ"}, .n_levels = 1}, "--by: column 1: unknown attribute 'typ'; did you "
						 "mean 'type'?\n  typ\n  ^"},
		{{.by = {"type", "line +"}, .n_levels = 2},
			"--by2: column 7: a value is missing at the end\n  line +\n        ^"},
		{{.by = {"type"}, .n_levels = 1, .definitions = definitions},
			"--define: 'type' is an attribute of samples"},
	};
	g_autoptr(LodeProfile) profile = small_profile();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_pivot_new(profile, NULL, 0, &cases[i].options, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_cmpstr(error->message, ==, cases[i].message);
	}
}

static void test_sort_words(void)
{
	static const char *const words[LODE_N_PIVOT_SORTS] = {
		"weight", "samples", "loads", "stores", "latency", "key"};

	for (int i = 0; i < LODE_N_PIVOT_SORTS; i++)
		g_assert_cmpint(lode_pivot_sort_from_text(words[i]), ==, i);
	g_assert_cmpint(lode_pivot_sort_from_text("heat"), ==, -1);
}

/* Only with "-m perf": two million samples in as many groups as there are. */
static void test_speed(void)
{
	static const LodePivotOptions cases[] = {
		{.by = {"type", "line"}, .n_levels = 2},
		{.by = {"thread", "page"}, .n_levels = 2, .top = 20},
		{.by = {"address"}, .n_levels = 1, .top = 20},
	};
	SampleProfileOptions options = {.seed = 3,
		.n_threads = 8,
		.n_samples = 2000000,
		.anon_bytes = 1 << 24,
		.unresolved = 0.1};
	g_autoptr(LodeProfile) profile = sample_profile_random(&options);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		gint64 start = g_get_monotonic_time();
		g_autoptr(LodePivot) pivot = pivot_of(profile, &cases[i]);
		double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
		g_test_minimized_result(seconds, "%.3f s: by %s: %u rows", seconds, cases[i].by[0],
			pivot->rows->len);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pivot/against_naive", test_against_naive);
	g_test_add_func("/pivot/sums", test_sums);
	g_test_add_func("/pivot/order", test_order);
	g_test_add_func("/pivot/two_operands", test_two_operands);
	g_test_add_func("/pivot/faults", test_faults);
	g_test_add_func("/pivot/processes", test_processes);
	g_test_add_func("/pivot/own_lines", test_own_lines);
	g_test_add_func("/pivot/empty", test_empty);
	g_test_add_func("/pivot/errors", test_errors);
	g_test_add_func("/pivot/sort_words", test_sort_words);
	if (g_test_perf())
		g_test_add_func("/pivot/speed", test_speed);
	return g_test_run();
}
