/* SPDX-License-Identifier: MIT */
/*
 * Windows of a trace through caches: their misses and the range of the miss ratio that they give,
 * against all of the trace.
 */
#include "caches/trace_replay.h"
#include "seeds.h"
#include "traces/trace_writer.h"

#include <glib/gstdio.h>
#include <string.h>

enum { N_REFERENCES = 240000, FRAME_REFERENCES = 50000, LINE = 64 };

static char *directory;

/* Programs that use lines again in one way each, of caches of 16, 128 and 1024 lines. */
typedef enum {
	LOOP_UNDER,  /* a bit fewer lines than the second cache */
	LOOP_OVER,   /* a bit more */
	RANDOM_LAST, /* a bit fewer than the third, at random */
	SKEWED,      /* few of many lines have most uses */
	PHASES,      /* as short as a window, of few lines and of many */
	GROWING,
	N_PATTERNS,
} Pattern;

static uint64_t line_of(Pattern pattern, GRand *random, uint64_t i)
{
	double skew = g_rand_double(random);

	switch (pattern) {
	case LOOP_UNDER:
		return i % 120;
	case LOOP_OVER:
		return i % 140;
	case RANDOM_LAST:
		return (uint64_t)g_rand_int_range(random, 0, 900);
	case SKEWED:
		return (uint64_t)(skew * skew * skew * skew * 4000);
	case PHASES:
		return (uint64_t)g_rand_int_range(random, 0, i / 1000 % 2 == 0 ? 12 : 600);
	default:
		return (uint64_t)(skew * (double)(8 + i / 64));
	}
}

static char *write_trace(Pattern pattern, guint32 seed)
{
	const LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST, .threads = 1, .frame_references = FRAME_REFERENCES};
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	g_autoptr(GError) error = NULL;
	char *path = g_build_filename(directory, "x.rps", NULL);
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, &options, NULL, &error);

	g_assert_no_error(error);
	for (uint64_t i = 0; i < N_REFERENCES / 2; i++) {
		const LodeReference references[] = {
			{0x400000 + i % 500 * 4, 4, 0, LODE_REFERENCE_FETCH},
			{0x10000000 + line_of(pattern, random, i) * LINE, 8, 0,
				i % 3 == 0 ? LODE_REFERENCE_STORE : LODE_REFERENCE_LOAD}};

		g_assert_true(lode_trace_stream_add(writer, references, 2, &error));
	}
	g_assert_true(lode_trace_stream_finish(writer, NULL, &error));
	g_assert_no_error(error);
	return path;
}

static GPtrArray *make_hierarchies(const char *const *texts)
{
	GPtrArray *hierarchies = g_ptr_array_new_with_free_func(
		(GDestroyNotify)lode_hierarchy_free);
	g_autoptr(GError) error = NULL;

	for (; *texts != NULL; texts++) {
		g_ptr_array_add(hierarchies, lode_hierarchy_parse(*texts, &error));
		g_assert_no_error(error);
	}
	return hierarchies;
}

static LodeTraceReplay *replay(
	const char *path, const GPtrArray *hierarchies, const LodeTraceRange *range)
{
	const LodeTraceReplayOptions options = {
		.hierarchies = (const LodeHierarchy *const *)hierarchies->pdata,
		.n_hierarchies = hierarchies->len,
		.threads = 1,
	};
	const LodeTraceReaderOptions reading = {.range = range};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &reading, &error);

	g_assert_no_error(error);
	LodeTraceReplay *replayed = lode_trace_replay_run(reader, &options, NULL, &error);
	g_assert_no_error(error);
	return replayed;
}

static uint64_t sum(const uint64_t *kinds)
{
	return kinds[0] + kinds[1] + kinds[2] + kinds[3];
}

static const LodeCacheCounts *counts_of(const LodeTraceReplay *replayed, size_t hierarchy)
{
	return lode_cache_simulation_counts(replayed->simulation, hierarchy);
}

/* In a first-level LRU cache a set that is full holds the same lines in the whole: the misses that
 * the windows have there are at most those that they have alone, at least those without the cold
 * ones. A warm-up over all that lies between windows leaves none cold, so that it gives the former.
 */
static void check_bounds(const char *path, const GPtrArray *hierarchies)
{
	static const uint64_t warm_ups[] = {0, 200, 1000, 4000};
	LodeTraceRange range = {.count = N_REFERENCES, .every = 20000, .length = 1000};
	range.warm_up = 2 * range.every;
	g_autoptr(LodeTraceReplay) whole = replay(path, hierarchies, &range);

	for (size_t i = 0; i < hierarchies->len; i++)
		g_assert_cmpfloat(lode_trace_replay_ratio_range(whole, i, 0).cold_misses, ==, 0);
	for (size_t k = 0; k < G_N_ELEMENTS(warm_ups); k++) {
		range.warm_up = warm_ups[k];
		g_autoptr(LodeTraceReplay) alone = replay(path, hierarchies, &range);

		for (size_t i = 0; i < hierarchies->len; i++) {
			uint64_t truth = sum(counts_of(whole, i)->misses);
			uint64_t most = sum(counts_of(alone, i)->misses);
			uint64_t cold =
				(uint64_t)lode_trace_replay_ratio_range(alone, i, 0).cold_misses;

			g_assert_cmpuint(sum(counts_of(alone, i)->accesses), ==,
				sum(counts_of(whole, i)->accesses));
			g_assert_cmpuint(truth, <=, most);
			g_assert_cmpuint(truth, >=, most - cold);
		}
	}
}

static void test_bounds(void)
{
	static const char *const one[] = {"d1=1K:4:64", NULL},
				 *const tlb[] = {"dtlb=8:2:512", NULL},
				 *const stacks[] = {"d1=512:2:64", "d1=1K:4:64", "d1=2K:8:64",
					 "d1=4K:16:64", "d1=32K:full:64", NULL},
				 *const no_allocate[] = {"d1=1K:4:64:no-allocate", NULL};
	const char *const *const lists[] = {one, tlb, stacks, no_allocate};

	for (Pattern pattern = 0; pattern < N_PATTERNS; pattern++) {
		g_autofree char *path = write_trace(pattern, soak_seed(1));

		for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
			g_autoptr(GPtrArray) hierarchies = make_hierarchies(lists[i]);

			check_bounds(path, hierarchies);
		}
	}
}

/* Cold misses of caches that differ in their ways alone are those of each by itself. */
static void test_stacks(void)
{
	static const char *const all[] = {"d1=512:2:64", "d1=1K:4:64", "d1=2K:8:64", NULL};
	const LodeTraceRange range = {
		.count = N_REFERENCES, .every = 5000, .length = 300, .warm_up = 100};
	g_autofree char *path = write_trace(SKEWED, soak_seed(2));
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(all);
	g_autoptr(LodeTraceReplay) together = replay(path, hierarchies, &range);

	for (size_t i = 0; i < hierarchies->len; i++) {
		const char *const one[] = {all[i], NULL};
		g_autoptr(GPtrArray) single = make_hierarchies(one);
		g_autoptr(LodeTraceReplay) alone = replay(path, single, &range);

		g_assert_true(memcmp(counts_of(together, i), counts_of(alone, 0),
				      sizeof(LodeCacheCounts)) == 0);
	}
}

/* The ratio of the whole is in the range in 19 of 20 settings: of pattern, windows and cache. */
static void test_coverage(void)
{
	static const char *const texts[] = {"i1=1K:2:64,d1=1K:2:64,l2=8K:4:64,l3=64K:8:64",
		"d1=4K:4:64:plru,l2=32K:8:64", NULL};
	static const LodeTraceRange ranges[] = {
		{0, N_REFERENCES, 0, 2000, 100},
		{0, N_REFERENCES, 500, 2000, 100},
		{0, N_REFERENCES, 2000, 10000, 1000},
		{0, N_REFERENCES, 5000, 10000, 1000},
		{0, N_REFERENCES, 10000, 20000, 5000},
		{0, N_REFERENCES, 40000, 20000, 1000},
	};
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(texts);
	const LodeTraceRange all = LODE_TRACE_RANGE_ALL;
	unsigned n_settings = 0, n_held = 0, n_patterns = random_rounds(N_PATTERNS, N_PATTERNS);

	for (Pattern pattern = 0; pattern < n_patterns; pattern++) {
		g_autofree char *path = write_trace(pattern, soak_seed(3));
		g_autoptr(LodeTraceReplay) whole = replay(path, hierarchies, &all);

		for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
			g_autoptr(LodeTraceReplay) sample = replay(path, hierarchies, &ranges[i]);

			for (size_t j = 0; j < 6; j++) {
				size_t hierarchy = j / 4, cache = j % 4;
				const LodeCacheCounts *counts = &counts_of(whole, hierarchy)[cache];
				double truth = (double)sum(counts->misses) /
				               (double)sum(counts->accesses);
				LodeMissRatioRange range = lode_trace_replay_ratio_range(
					sample, hierarchy, cache);

				n_settings++;
				n_held += range.low <= truth && truth <= range.high;
				/* enough of a warm-up for the 16 lines of d1 */
				if (j == 1 && i == 2 && pattern != PHASES)
					g_assert_cmpfloat(range.high - range.low, <, 0.2);
			}
		}
	}
	g_assert_cmpuint(n_settings, ==, n_patterns * G_N_ELEMENTS(ranges) * 6);
	g_test_message("%u of %u settings hold", n_held, n_settings);
	g_assert_cmpuint(20 * n_held, >=, 19 * n_settings);
}

/* Fewer windows than the least give no range. */
static void test_few_windows(void)
{
	static const char *const texts[] = {"d1=1K:4:64", NULL};
	LodeTraceRange range = {.count = N_REFERENCES,
		.every = N_REFERENCES / (LODE_TRACE_REPLAY_MIN_WINDOWS - 1),
		.length = 1000};
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(texts);
	g_autofree char *path = write_trace(SKEWED, soak_seed(4));
	g_autoptr(LodeTraceReplay) few = replay(path, hierarchies, &range);

	g_assert_false(lode_trace_replay_ratio_range(few, 0, 0).high >= 0);
	range.every = N_REFERENCES / LODE_TRACE_REPLAY_MIN_WINDOWS;
	g_autoptr(LodeTraceReplay) enough = replay(path, hierarchies, &range);
	g_assert_true(lode_trace_replay_ratio_range(enough, 0, 0).high > 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	directory = g_dir_make_tmp("lode-trace-sample-XXXXXX", NULL);
	g_test_add_func("/caches/trace_sample/bounds", test_bounds);
	g_test_add_func("/caches/trace_sample/stacks", test_stacks);
	g_test_add_func("/caches/trace_sample/coverage", test_coverage);
	g_test_add_func("/caches/trace_sample/few_windows", test_few_windows);
	int status = g_test_run();
	g_autofree char *path = g_build_filename(directory, "x.rps", NULL);
	g_unlink(path);
	g_rmdir(directory);
	g_free(directory);
	return status;
}
