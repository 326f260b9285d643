/* SPDX-License-Identifier: MIT */
/* First touches by hand, and against a naive join on random samples. */
#include "analyses/memory/placement/first_touch.h"

#include "model/memory.h"
#include "sample_profile.h"

enum { RANDOM_CASES = 40, PAGE = 4096 };

static GArray *all_samples(const LodeProfile *profile)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(numbers, i);
	return numbers;
}

static LodeFirstTouch *touch_of(const LodeProfile *profile)
{
	g_autoptr(GArray) all = all_samples(profile);

	return lode_first_touch_new(
		profile, (const uint32_t *)(void *)all->data, all->len, PAGE, NULL);
}

/* Thread 0 touches four pages, thread 1 uses the middle two; the fifth was touched by nobody. */
static LodeProfile *touched_profile(void)
{
	LodeProfile *profile = sample_profile_new(3, 0x10000);

	for (uint32_t i = 0; i < 4; i++)
		sample_profile_fault(profile, 0, SAMPLE_ANON + i * PAGE + 8, 100 + i, 2);
	sample_profile_fault(profile, 2, SAMPLE_ANON + PAGE, 5000, 4); /* later: not the first */
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON + PAGE, LODE_ACCESS_LOAD, 0)->weight = 3;
	sample_profile_access(profile, 0, SAMPLE_ANON + PAGE, LODE_ACCESS_LOAD, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON + 2 * PAGE, LODE_ACCESS_LOAD, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON + 3 * PAGE, LODE_ACCESS_LOAD, 0)->time_ns =
		50; /* before the fault: of what lay there then */
	sample_profile_access(profile, 2, SAMPLE_ANON + 4 * PAGE, LODE_ACCESS_STORE, 0);
	return profile;
}

/* Files of the toolchain name a place only where a glob says that they are the user's own. */
static void test_own_lines(void)
{
	static const char *const globs[] = {"*/stl_*.h", NULL};
	const uint32_t number = 0;
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x10000);
	uint32_t own = sample_profile_inline_vector(profile, 2);

	sample_profile_fault(profile, 0, SAMPLE_ANON, 100, 2);
	g_autoptr(LodeFirstTouch) touch = lode_first_touch_new(profile, &number, 1, PAGE, NULL);
	g_autoptr(LodeFirstTouch) inner = lode_first_touch_new(profile, &number, 1, PAGE, globs);
	g_assert_cmpuint(LODE_AT(touch->pages, LodePageTouch, 0).location, ==, own);
	g_assert_cmpuint(LODE_AT(touch->ranges, LodeTouchRange, 0).location, ==, own);
	g_assert_cmpuint(LODE_AT(inner->pages, LodePageTouch, 0).location, ==,
		lode_profile_instruction(profile, 2)->location);
}

static void test_by_hand(void)
{
	g_autoptr(LodeProfile) profile = touched_profile();
	g_autoptr(LodeFirstTouch) touch = touch_of(profile);
	const LodePageTouch *pages = (const LodePageTouch *)(void *)touch->pages->data;
	const LodeTouchRange *ranges = (const LodeTouchRange *)(void *)touch->ranges->data;

	g_assert_cmpuint(touch->pages->len, ==, 5);
	g_assert_cmpuint(pages[1].thread, ==, 0);
	g_assert_cmpuint(pages[1].time_ns, ==, 101);
	g_assert_cmpuint(pages[1].n_faults, ==, 2);
	g_assert_cmpuint(pages[1].main_user, ==, 1);
	g_assert_cmpuint(pages[1].n_users, ==, 2);
	g_assert_cmpfloat(pages[1].weight_by_others, ==, 3);
	g_assert_cmpuint(pages[1].instruction, ==, 2);
	g_assert_cmpuint(pages[1].function, ==, SAMPLE_FILL);
	g_assert_cmpuint(pages[3].main_user, ==, LODE_NONE);
	g_assert_cmpuint(pages[4].thread, ==, LODE_NONE);
	g_assert_cmpuint(touch->n_early, ==, 1);
	g_assert_cmpuint(touch->n_touched, ==, 4);
	g_assert_cmpuint(touch->n_accesses, ==, 4);
	g_assert_cmpuint(touch->n_by_others, ==, 2);
	g_assert_cmpfloat(touch->weight, ==, 6);
	g_assert_cmpfloat(touch->weight_by_others, ==, 4);
	g_assert_cmpuint(touch->n_untouched, ==, 1);
	g_assert_cmpfloat(touch->untouched_weight, ==, 1);
	g_assert_cmpuint(touch->n_faults, ==, 5);

	/* Four accesses do not tell whose pages they are; the one without any goes along. */
	g_assert_cmpuint(touch->ranges->len, ==, 2);
	g_assert_cmpuint(ranges[0].n_pages, ==, 4);
	g_assert_cmpuint(ranges[0].main_user, ==, 1);
	g_assert_cmphex(ranges[0].last, ==, SAMPLE_ANON + 4 * PAGE - 1);
	g_assert_cmpuint(ranges[0].last_time_ns, ==, 103);
	g_assert_cmpuint(ranges[1].thread, ==, LODE_NONE);
}

/* Pages that two threads use by turns are one range, whoever has more of each; where the use does
 * change, a range ends. */
static void test_merging(void)
{
	enum { N_MIXED = 40, N_OTHERS = 40 };
	g_autoptr(LodeProfile) profile = sample_profile_new(3, 0x100000);
	static const uint32_t threads[] = {1, 2, 2, 1, 1};

	for (uint32_t i = 0; i < N_MIXED + N_OTHERS; i++)
		sample_profile_fault(profile, 0, SAMPLE_ANON + i * PAGE, 1 + i, 2);
	for (uint32_t i = 0; i < N_MIXED * 3; i++)
		sample_profile_access(profile, threads[i % G_N_ELEMENTS(threads)],
			SAMPLE_ANON + i / 3 * PAGE, LODE_ACCESS_LOAD, 4);
	for (uint32_t i = 0; i < N_OTHERS * 3; i++)
		sample_profile_access(
			profile, 0, SAMPLE_ANON + (N_MIXED + i / 3) * PAGE, LODE_ACCESS_LOAD, 4);
	g_autoptr(LodeFirstTouch) touch = touch_of(profile);
	const LodeTouchRange *ranges = (const LodeTouchRange *)(void *)touch->ranges->data;

	g_assert_cmpuint(touch->ranges->len, ==, 2);
	g_assert_cmpuint(ranges[0].n_pages, ==, N_MIXED);
	g_assert_cmpuint(ranges[0].main_user, ==, 1);
	g_assert_cmpfloat(ranges[0].main_weight, ==, N_MIXED * 3 * 3 / 5);
	g_assert_cmpuint(ranges[1].main_user, ==, 0);
	g_assert_cmpfloat(ranges[1].main_weight, ==, N_OTHERS * 3);
	g_assert_cmpuint(touch->objects->len, ==, 1);
	const LodeTouchedObject *object = &LODE_AT(touch->objects, LodeTouchedObject, 0);
	g_assert_cmpuint(object->object, ==, SAMPLE_OBJECT_ANON);
	g_assert_cmpfloat(object->weight, ==, (N_MIXED + N_OTHERS) * 3);
	g_assert_cmpfloat(object->weight_by_others, ==, N_MIXED * 3);
}

/* What was chosen says which pages, all faults say who was first. */
static void test_filtered(void)
{
	g_autoptr(LodeProfile) profile = touched_profile();
	const uint32_t chosen[] = {6};
	g_autoptr(LodeFirstTouch) touch = lode_first_touch_new(profile, chosen, 1, PAGE, NULL);

	g_assert_cmpuint(touch->pages->len, ==, 1);
	g_assert_cmpuint(LODE_AT(touch->pages, LodePageTouch, 0).thread, ==, 0);
	g_assert_cmpfloat(touch->weight_by_others, ==, 3);
}

/* Equal addresses in two processes are two pages. */
static void test_processes(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 0x10000);

	LODE_AT(profile->memory->threads, LodeThread, 1).pid = 200;
	sample_profile_fault(profile, 0, SAMPLE_ANON, 1, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);
	g_autoptr(LodeFirstTouch) touch = touch_of(profile);
	g_assert_cmpuint(touch->pages->len, ==, 2);
	g_assert_cmpuint(LODE_AT(touch->pages, LodePageTouch, 1).thread, ==, LODE_NONE);
	g_assert_cmpuint(touch->ranges->len, ==, 2);
}

static uint32_t naive_first(const LodeMemory *memory, uint64_t page)
{
	uint32_t thread = LODE_NONE;
	uint64_t time_ns = UINT64_MAX;

	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->event != SAMPLE_EVENT_FAULTS || sample->address / PAGE != page / PAGE ||
			sample->time_ns >= time_ns)
			continue;
		time_ns = sample->time_ns;
		thread = sample->thread;
	}
	return thread;
}

static uint64_t naive_time(const LodeMemory *memory, uint64_t page)
{
	uint64_t time_ns = UINT64_MAX;

	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->event == SAMPLE_EVENT_FAULTS && sample->address / PAGE == page / PAGE)
			time_ns = MIN(time_ns, sample->time_ns);
	}
	return time_ns == UINT64_MAX ? 0 : time_ns;
}

static void check_page(const LodeMemory *memory, const LodePageTouch *page)
{
	uint64_t time_ns = naive_time(memory, page->address), n = 0, n_by_others = 0;

	g_assert_cmpuint(page->thread, ==, naive_first(memory, page->address));
	g_assert_cmpuint(page->time_ns, ==, time_ns);
	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->event == SAMPLE_EVENT_FAULTS || sample->rule == LODE_RULE_NONE ||
			sample->address / PAGE != page->address / PAGE || sample->time_ns < time_ns)
			continue;
		n++;
		n_by_others += page->thread != LODE_NONE && sample->thread != page->thread;
	}
	g_assert_cmpuint(page->n_accesses, ==, n);
	g_assert_cmpuint(page->n_by_others, ==, n_by_others);
}

static void test_random(void)
{
	for (uint32_t seed = 1; seed <= RANDOM_CASES; seed++) {
		SampleProfileOptions options = {
			.seed = seed,
			.n_threads = seed % 5 + 1,
			.n_samples = seed * 7,
			.anon_bytes = 0x20000,
			.unresolved = 0.1,
			.faults = 0.4,
		};
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_autoptr(LodeFirstTouch) touch = touch_of(profile);
		uint32_t in_ranges = 0;
		for (guint i = 0; i < touch->pages->len; i++)
			check_page(profile->memory, &LODE_AT(touch->pages, LodePageTouch, i));
		for (guint i = 0; i < touch->ranges->len; i++)
			in_ranges += LODE_AT(touch->ranges, LodeTouchRange, i).n_pages;
		g_assert_cmpuint(in_ranges, ==, touch->pages->len);
	}
}

static void test_empty(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 0x1000);
	g_autoptr(LodeFirstTouch) touch = touch_of(profile);

	g_assert_cmpuint(touch->pages->len, ==, 0);
	g_assert_cmpuint(touch->ranges->len, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/first_touch/merging", test_merging);
	g_test_add_func("/first_touch/by_hand", test_by_hand);
	g_test_add_func("/first_touch/filtered", test_filtered);
	g_test_add_func("/first_touch/processes", test_processes);
	g_test_add_func("/first_touch/random", test_random);
	g_test_add_func("/first_touch/empty", test_empty);
	g_test_add_func("/first_touch/own_lines", test_own_lines);
	return g_test_run();
}
