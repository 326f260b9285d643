/* SPDX-License-Identifier: MIT */
/* Which samples a filter lets through, against a naive choice; and its errors. */
#include "analyses/memory/sample_filter.h"
#include "base/error.h"
#include "model/memory.h"
#include "sample_profile.h"

#include <string.h>

typedef bool (*IsWanted)(const LodeMemorySample *sample);

static LodeProfile *make_profile(void)
{
	SampleProfileOptions options = {.seed = 3,
		.n_threads = 4,
		.n_samples = 2000,
		.anon_bytes = 1 << 16,
		.unresolved = 0.2,
		.faults = 0.1};

	return sample_profile_random(&options);
}

static void check(const LodeSampleFilterOptions *options, IsWanted is_wanted)
{
	g_autoptr(LodeProfile) profile = make_profile();
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) chosen = lode_sample_filter_apply(profile, options, &error);
	guint k = 0;

	g_assert_no_error(error);
	for (uint32_t i = 0; i < profile->memory->samples->len; i++) {
		if (!is_wanted(&LODE_AT(profile->memory->samples, LodeMemorySample, i)))
			continue;
		g_assert_cmpuint(k, <, chosen->len);
		g_assert_cmpuint(g_array_index(chosen, uint32_t, k++), ==, i);
	}
	g_assert_cmpuint(k, ==, chosen->len);
	g_assert_cmpuint(k, >, 0);
}

static bool any(const LodeMemorySample *sample)
{
	return sample != NULL;
}

static bool in_two_threads(const LodeMemorySample *sample)
{
	return sample->thread == 1 || sample->thread == 3;
}

static bool is_fault(const LodeMemorySample *sample)
{
	return sample->event == SAMPLE_EVENT_FAULTS;
}

static bool is_load(const LodeMemorySample *sample)
{
	return (sample->access & LODE_ACCESS_LOAD) != 0;
}

static bool is_access(const LodeMemorySample *sample)
{
	return sample->access != 0;
}

static bool in_walk(const LodeMemorySample *sample)
{
	return sample->instruction / SAMPLE_INSTRUCTIONS_EACH == SAMPLE_WALK;
}

static bool in_buffer(const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE && sample->address >= SAMPLE_BUFFER &&
	       sample->address < SAMPLE_BUFFER + SAMPLE_BUFFER_SIZE;
}

static bool has_low_address(const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE && sample->address <= 0x10000fff;
}

static bool in_pcs(const LodeMemorySample *sample)
{
	return sample->pc >= 0x401000 && sample->pc <= 0x401104;
}

static bool is_node(const LodeMemorySample *sample)
{
	return sample->object == SAMPLE_OBJECT_KEY || sample->object == SAMPLE_OBJECT_NEXT;
}

static bool is_slow_node_load(const LodeMemorySample *sample)
{
	return is_node(sample) && is_load(sample) && in_two_threads(sample);
}

static void test_choices(void)
{
	static const char *const two[] = {"3", "1", NULL}, *const none[] = {NULL};
	static const char *const faults[] = {"page-faults", NULL};
	static const char *const definitions[] = {"of_node=type == 'struct node'", NULL};
	const struct {
		LodeSampleFilterOptions options;
		IsWanted is_wanted;
	} cases[] = {
		{{0}, any},
		{{.threads = none, .events = none}, any},
		{{.threads = two}, in_two_threads},
		{{.events = faults}, is_fault},
		{{.loads_only = true}, is_load},
		{{.loads_only = true, .stores_only = true}, is_access},
		{{.pc = "walk"}, in_walk},
		{{.pc = "sample"}, any}, /* the image */
		{{.pc = "/bin/sample"}, any},
		{{.pc = "0x401000-0x401104"}, in_pcs},
		{{.pc = "0x401000 - 4198660"}, in_pcs},
		{{.address = "malloc@sample.c:12"}, in_buffer},
		{{.address = "-0x10000fff"}, has_low_address},
		{{.address = "0-0x10000fff"}, has_low_address},
		{{.address = "struct node"}, is_node},
		{{.where = "object =~ '^struct node'"}, is_node},
		{{.where = "of_node", .definitions = definitions}, is_node},
		{{.where = "thread in (1, 3) && is_load",
			 .address = "struct node",
			 .definitions = definitions},
			is_slow_node_load},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		check(&cases[i].options, cases[i].is_wanted);
}

static void test_errors(void)
{
	static const char *const event[] = {"page-fault", NULL}, *const thread[] = {"9", NULL};
	static const char *const definitions[] = {"x=1 +", NULL};
	const struct {
		LodeSampleFilterOptions options;
		const char *message;
	} cases[] = {
		{{.where = "thraed == 3"},
			"--where: column 1: unknown attribute 'thraed'; did you mean 'thread'?\n"
			"  thraed == 3\n  ^"},
		{{.where = "thread"},
			"--where: 'thread' is not a condition; compare it with something"},
		{{.events = event}, "--event: no event 'page-fault' in this profile; did you mean "
				    "'page-faults'?"},
		{{.threads = thread},
			"--thread: no thread '9' in this profile of 4; they count from 0, and "
			"'4711.3' is thread 3 of process 4711"},
		{{.pc = "wlak"},
			"--pc: no function or image 'wlak' in this profile; did you mean 'walk'?"},
		{{.address = "zzz"}, "--address: no object 'zzz' in this profile"},
		{{.address = "9-3"}, "--address: the range ends before it begins"},
		{{.definitions = definitions},
			"--define: x: column 4: a value is missing at the end\n  1 +\n     ^"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = make_profile();
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_sample_filter_apply(profile, &cases[i].options, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_cmpstr(error->message, ==, cases[i].message);
	}
}

/* The same accesses as misses of two levels: they miss the last level at most once. */
static LodeProfile *make_traced_profile(void)
{
	LodeProfile *profile = make_profile();
	const LodeEvent last = {.name = lode_profile_intern(profile, "ll-miss")};
	GArray *samples = profile->memory->samples;

	lode_profile_event(profile, SAMPLE_EVENT_CLOCK)->name = lode_profile_intern(
		profile, "l1d-miss");
	g_array_append_val(profile->code.events, last);
	for (guint i = 0; i < samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		sample->event = i % 3 == 0 ? SAMPLE_N_EVENTS : SAMPLE_EVENT_CLOCK;
		sample->rule = LODE_RULE_TRACED;
	}
	return profile;
}

/* Every third of them executed in a window. */
static void test_windows(void)
{
	static const char *const one[] = {LODE_WINDOW_ACCESSES, NULL}, *const by[] = {
									       "event", NULL};
	const struct {
		LodeSampleFilterOptions options;
		guint n;
	} cases[] = {
		{{0}, 1333},
		{{.where = "thread >= 0"}, 1333},
		{{.events = one}, 667},
		{{.where = "event == 'window-accesses'"}, 667},
		{{.where = "rule == 'window'"}, 0},
		{{.groups = by}, 2000},
	};
	g_autoptr(LodeProfile) profile = make_profile();
	uint32_t event = lode_profile_add_event(
		profile, LODE_WINDOW_ACCESSES, NULL, LODE_EVENT_SAMPLED, NULL, 0);
	GArray *samples = profile->memory->samples;

	for (guint i = 0; i < samples->len; i += 3) {
		LODE_AT(samples, LodeMemorySample, i).event = event;
		LODE_AT(samples, LodeMemorySample, i).rule = LODE_RULE_WINDOW;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GArray)
			chosen = lode_sample_filter_apply(profile, &cases[i].options, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(chosen->len, ==, cases[i].n);
	}
	/* where there is nothing else */
	for (guint i = 0; i < samples->len; i++)
		LODE_AT(samples, LodeMemorySample, i).event = event;
	g_autoptr(GArray) all = lode_sample_filter_apply(profile, &cases[0].options, NULL);
	g_assert_cmpuint(all->len, ==, 2000);
}

static void test_simulated_misses(void)
{
	static const char *const one[] = {"l1d-miss", NULL}, *const by[] = {"event", NULL};
	static const char *const by_other[] = {"function", "level_of", NULL};
	static const char *const definitions[] = {"level_of=event", NULL};
	const struct {
		LodeSampleFilterOptions options;
		guint n;
	} cases[] = {
		{{0}, 667},
		{{.where = "thread >= 0"}, 667},
		{{.groups = by + 1}, 667},
		{{.groups = by_other}, 667}, /* there is no such name */
		{{.events = one}, 1333},
		{{.where = "event == 'l1d-miss'"}, 1333},
		{{.groups = by}, 2000},
		{{.groups = by_other, .definitions = definitions}, 2000},
	};
	g_autoptr(LodeProfile) profile = make_traced_profile();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GArray)
			chosen = lode_sample_filter_apply(profile, &cases[i].options, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(chosen->len, ==, cases[i].n);
	}
}

static void test_no_memory(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_sample_filter_apply(profile, &(LodeSampleFilterOptions){0}, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

/* Only with "-m perf": what filters take for two million samples. */
static void test_speed(void)
{
	static const char *const filters[] = {
		"true",
		"thread == 3",
		"function =~ '^w' && latency > 100",
		"type == 'struct node' && is_load && address in 0x10000000..0x10008000",
		"(address >> 12) % 7 in (1, 3, 5..6) || line * 2 + size < 30 && has(level)",
		"object =~ 'node|counts' && (is_store ? weight > 0.5 : place !~ ':2[0-3]$')",
	};
	SampleProfileOptions options = {.seed = 3,
		.n_threads = 8,
		.n_samples = 2000000,
		.anon_bytes = 1 << 20,
		.unresolved = 0.1};
	g_autoptr(LodeProfile) profile = sample_profile_random(&options);

	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		LodeSampleFilterOptions filter = {.where = filters[i]};
		gint64 start = g_get_monotonic_time();
		g_autoptr(GArray) chosen = lode_sample_filter_apply(profile, &filter, NULL);
		double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
		g_test_minimized_result(
			seconds, "%.3f s: %s: %u samples", seconds, filters[i], chosen->len);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sample_filter/choices", test_choices);
	g_test_add_func("/sample_filter/errors", test_errors);
	g_test_add_func("/sample_filter/simulated_misses", test_simulated_misses);
	g_test_add_func("/sample_filter/windows", test_windows);
	g_test_add_func("/sample_filter/no_memory", test_no_memory);
	if (g_test_perf())
		g_test_add_func("/sample_filter/speed", test_speed);
	return g_test_run();
}
