/* SPDX-License-Identifier: MIT */
/*
 * Packed traces through caches and stack distances at once. Where both say the same thing, the
 * misses of a fully associative LRU cache, they must agree, whatever the number of threads.
 */
#include "base/error.h"
#include "caches/replay_times.h"
#include "caches/trace_replay.h"
#include "seeds.h"
#include "traces/trace_writer.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

enum { N_REFERENCES = 60000, FRAME_REFERENCES = 7000, LINE = 64, N_SIZES = 6, N_TIMES = 7 };

static char *directory;

static char *write_trace(GRand *random)
{
	const LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST, .threads = 1, .frame_references = FRAME_REFERENCES};
	g_autoptr(GError) error = NULL;
	char *path = g_build_filename(directory, "x.rps", NULL);
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, &options, NULL, &error);
	uint64_t pc = 0;

	g_assert_no_error(error);
	for (unsigned i = 0; i < N_REFERENCES; i++) {
		LodeReference reference = {pc, 4, 0, LODE_REFERENCE_FETCH};
		uint64_t word = g_rand_int(random) % (1 << g_rand_int_range(random, 1, 14));

		pc = (g_rand_int_range(random, 0, 9) == 0 ? g_rand_int(random) : pc + 4) & 0x3ffc;
		if (i % 3 == 2)
			reference = (LodeReference){0x100000 + 8 * word, 8, 0,
				(uint8_t)g_rand_int_range(random, 1, LODE_N_REFERENCE_KINDS)};
		g_assert_true(lode_trace_stream_add(writer, &reference, 1, &error));
	}
	g_assert_true(lode_trace_stream_finish(writer, NULL, &error));
	g_assert_no_error(error);
	return path;
}

/* Of the sizes from `first` on. */
static GPtrArray *make_hierarchies(unsigned first, unsigned n)
{
	GPtrArray *hierarchies = g_ptr_array_new_with_free_func(
		(GDestroyNotify)lode_hierarchy_free);
	g_autoptr(GError) error = NULL;

	for (unsigned i = first; i < first + n; i++) {
		g_autofree char *text = g_strdup_printf(
			"i1=%u:full:64,d1=%u:full:64", 256u << i, 512u << i);
		LodeHierarchy *hierarchy = lode_hierarchy_parse(text, &error);

		g_assert_no_error(error);
		g_ptr_array_add(hierarchies, hierarchy);
	}
	return hierarchies;
}

static uint64_t misses_of(const LodeMissCurve *curve, uint64_t n_lines)
{
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);
		if (point->n_lines == n_lines || i + 1 == curve->points->len)
			return point->misses;
	}
	g_assert_not_reached();
}

static uint64_t sum(const uint64_t *kinds)
{
	return kinds[0] + kinds[1] + kinds[2] + kinds[3];
}

static LodeTraceReplay *replay_range(const char *path, const GPtrArray *hierarchies,
	unsigned threads, const LodeTraceRange *range, const LodeProgress *progress, GError **error)
{
	const LodeStackDistancesOptions distances[] = {
		{.line_bytes = LINE, .holds = LODE_CACHE_INSTRUCTIONS},
		{.line_bytes = LINE, .holds = LODE_CACHE_DATA},
	};
	const LodeTraceReplayOptions options = {
		.hierarchies = (const LodeHierarchy *const *)hierarchies->pdata,
		.n_hierarchies = hierarchies->len,
		.distances = distances,
		.n_distances = G_N_ELEMENTS(distances),
		.threads = threads,
	};
	const LodeTraceReaderOptions reading = {.range = range};
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &reading, error);

	return reader != NULL ? lode_trace_replay_run(reader, &options, progress, error) : NULL;
}

static LodeTraceReplay *replay(const char *path, const GPtrArray *hierarchies, unsigned threads,
	const LodeProgress *progress, GError **error)
{
	return replay_range(path, hierarchies, threads, NULL, progress, error);
}

static void check_agreement(const LodeTraceReplay *replayed)
{
	const LodeMissCurve *fetches = g_ptr_array_index(replayed->curves, 0);
	const LodeMissCurve *data = g_ptr_array_index(replayed->curves, 1);

	g_assert_cmpuint(fetches->n_accesses, ==, replayed->n_instructions);
	g_assert_cmpuint(data->n_accesses, ==, replayed->n_references - replayed->n_instructions);
	for (unsigned i = 0; i < N_SIZES; i++) {
		const LodeCacheCounts *counts = lode_cache_simulation_counts(
			replayed->simulation, i);

		g_assert_cmpuint(sum(counts[0].accesses), ==, fetches->n_accesses);
		g_assert_cmpuint(sum(counts[0].misses), ==, misses_of(fetches, (256u << i) / LINE));
		g_assert_cmpuint(sum(counts[1].accesses), ==, data->n_accesses);
		g_assert_cmpuint(sum(counts[1].misses), ==, misses_of(data, (512u << i) / LINE));
	}
}

static void test_simulation_agrees(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(1));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(0, N_SIZES);

	for (unsigned threads = 1; threads <= 3; threads++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeTraceReplay)
			replayed = replay(path, hierarchies, threads, NULL, &error);

		g_assert_no_error(error);
		g_assert_null(replayed->damage);
		g_assert_cmpuint(replayed->n_references, ==, N_REFERENCES);
		check_agreement(replayed);
	}
}

/* Whole frames before the damage count, and nothing else. */
static void check_damaged(const GPtrArray *hierarchies, const char *bytes, gsize size)
{
	g_autofree char *path = g_build_filename(directory, "damaged.rps", NULL);
	g_autoptr(GError) error = NULL;

	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	g_autoptr(LodeTraceReplay) replayed = replay(path, hierarchies, 1, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(replayed->damage);
	g_assert_cmpuint(replayed->n_references, >, 0);
	g_assert_cmpuint(replayed->n_references, <, N_REFERENCES);
	check_agreement(replayed);
}

static void test_damage(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(2));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(0, N_SIZES);
	g_autofree char *bytes = NULL;
	gsize size;

	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	check_damaged(hierarchies, bytes, size / 2);
	bytes[size / 2] ^= 4;
	check_damaged(hierarchies, bytes, size);
}

static void test_stopped(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(3));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(0, 1);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;

	g_cancellable_cancel(cancellable);
	g_assert_null(replay(path, hierarchies, 1, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

static LodeTraceReplay *replay_part(
	const char *path, const GPtrArray *hierarchies, const LodeTraceRange *range)
{
	g_autoptr(GError) error = NULL;
	LodeTraceReplay *replayed = replay_range(path, hierarchies, 2, range, NULL, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(replayed->n_references, ==, range->count);
	return replayed;
}

/* What is warmed up from the beginning on has the misses that it has in the whole. */
static void test_warm_up(void)
{
	static const LodeTraceRange before = {0, 20001, 0, 0, 0}, both = {0, 50000, 0, 0, 0},
				    cold = {20001, 29999, 0, 0, 0},
				    warm = {20001, 29999, 20001, 0, 0};
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(4));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(0, N_SIZES);
	g_autoptr(LodeTraceReplay) first = replay_part(path, hierarchies, &before);
	g_autoptr(LodeTraceReplay) all = replay_part(path, hierarchies, &both);
	g_autoptr(LodeTraceReplay) warmed = replay_part(path, hierarchies, &warm);
	g_autoptr(LodeTraceReplay) unwarmed = replay_part(path, hierarchies, &cold);

	check_agreement(unwarmed);
	for (unsigned i = 0; i < N_SIZES; i++) {
		for (unsigned cache = 0; cache < 2; cache++) {
			const LodeCacheCounts *part = &lode_cache_simulation_counts(
				warmed->simulation, i)[cache];
			const LodeCacheCounts *whole = &lode_cache_simulation_counts(
				all->simulation, i)[cache];
			const LodeCacheCounts *begin = &lode_cache_simulation_counts(
				first->simulation, i)[cache];
			const LodeCacheCounts *without = &lode_cache_simulation_counts(
				unwarmed->simulation, i)[cache];

			g_assert_cmpuint(sum(part->accesses), ==,
				sum(whole->accesses) - sum(begin->accesses));
			g_assert_cmpuint(
				sum(part->misses), ==, sum(whole->misses) - sum(begin->misses));
			g_assert_cmpuint(sum(without->accesses), ==, sum(part->accesses));
			g_assert_cmpuint(sum(without->misses), >, sum(part->misses));
		}
	}
}

enum { EVERY = 3000, LENGTH = 700 };

static uint64_t misses_before(const char *path, const GPtrArray *hierarchies, uint64_t end)
{
	const LodeTraceRange range = {.count = end};
	g_autoptr(LodeTraceReplay) replayed = replay_part(path, hierarchies, &range);

	return sum(lode_cache_simulation_counts(replayed->simulation, 0)[1].misses);
}

/* Where all that lies between windows warms up, they have the misses that they have in the whole.
 */
static void test_windows(void)
{
	const LodeTraceRange range = {.count = N_REFERENCES,
		.every = 5 * EVERY,
		.length = LENGTH,
		.warm_up = 2 * 5 * EVERY};
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(5));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(N_SIZES - 1, 1);
	g_autoptr(GError) error = NULL;
	uint64_t expected = 0;

	for (uint64_t at = 0; at < N_REFERENCES;) {
		const LodeTracePart part = lode_trace_range_part(&range, at);

		if (part.kind == LODE_TRACE_COUNTED)
			expected += misses_before(path, hierarchies, part.end) -
			            misses_before(path, hierarchies, at);
		at = part.end;
	}
	g_autoptr(LodeTraceReplay)
		replayed = replay_range(path, hierarchies, 2, &range, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(replayed->n_windows, ==, N_REFERENCES / (5 * EVERY));
	g_assert_cmpuint(replayed->n_references, ==, N_REFERENCES / (5 * EVERY) * LENGTH);
	g_assert_cmpuint(
		sum(lode_cache_simulation_counts(replayed->simulation, 0)[1].misses), ==, expected);
}

static uint64_t sum_reuses(const LodeReplayReuses *reuses)
{
	uint64_t n = reuses->n_first;

	for (unsigned i = 0; i < LODE_REUSE_MAX_BINS; i++)
		n += reuses->reuses[i];
	return n;
}

/* A stretch has what the trace up to its end has more than the one up to its beginning. */
static void check_times(const char *path, const GPtrArray *hierarchies, bool is_length_known)
{
	const LodeStackDistancesOptions distances = {.line_bytes = LINE, .holds = LODE_CACHE_DATA};
	const LodeTraceReplayOptions options = {
		.hierarchies = (const LodeHierarchy *const *)hierarchies->pdata,
		.n_hierarchies = hierarchies->len,
		.distances = &distances,
		.n_distances = 1,
		.n_times = N_TIMES,
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, &error);
	const LodeTraceRange range = is_length_known ? lode_trace_reader_range(reader)
	                                             : LODE_TRACE_RANGE_ALL;
	g_autoptr(LodeTraceReplay) all = lode_trace_replay_new(&options, &range, &error);
	const LodeTraceFrame *frame;
	uint64_t first = 0, n_accesses = 0;

	while (lode_trace_reader_next(reader, &frame, &error) > 0)
		g_assert_true(lode_trace_replay_take(all, frame, NULL, &error));
	g_assert_no_error(error);
	lode_trace_replay_finish(all);
	guint n = lode_replay_times_n(all->times);
	g_assert_cmpuint(n, >=, 1);
	g_assert_cmpuint(n, <=, is_length_known ? N_TIMES : 2 * N_TIMES);
	for (guint i = 0; i < n; i++) {
		const LodeReplayTime *time = lode_replay_times_at(all->times, i);
		const LodeReplayReuses *reuses = lode_replay_times_reuses(all->times, i, 0);
		g_assert_cmpuint(time->first_reference, ==, first);
		g_assert_cmpuint(sum(lode_replay_times_counts(all->times, i, 0, 1)->misses), ==,
			misses_before(path, hierarchies, first + time->n_references) -
				(first > 0 ? misses_before(path, hierarchies, first) : 0));
		g_assert_cmpuint(sum_reuses(reuses), ==, reuses->n_accesses);
		g_assert_cmpuint(lode_replay_reuses_misses(reuses, N_SIZES + 2), ==,
			sum(lode_replay_times_counts(all->times, i, 0, 1)->misses));
		first += time->n_references;
		n_accesses += reuses->n_accesses;
	}
	g_assert_cmpuint(first, ==, N_REFERENCES);
	g_assert_cmpuint(n_accesses, ==, N_REFERENCES - all->n_instructions);
}

static void test_times(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(6));
	g_autofree char *path = write_trace(random);
	g_autoptr(GPtrArray) hierarchies = make_hierarchies(N_SIZES - 1, 1);

	check_times(path, hierarchies, true);
	check_times(path, hierarchies, false);
}

/* Stretches of a program begin with 65,536 references. */
static void test_joined_times(void)
{
	const LodeReplayTimesOptions options = {.n_times = N_TIMES};
	g_autoptr(LodeReplayTimes) times = lode_replay_times_new(&options);
	LodeTraceFrame frame = {.n_references = 65536, .n_instructions = 7};
	uint64_t first = 0, n_instructions = 0;

	for (unsigned i = 0; i < 1000; i++) {
		lode_replay_times_add(times, &frame, NULL, NULL);
		frame.first_reference += frame.n_references;
	}
	lode_replay_times_finish(times, NULL, NULL);
	g_assert_cmpuint(lode_replay_times_n(times), >=, N_TIMES);
	g_assert_cmpuint(lode_replay_times_n(times), <=, 2 * N_TIMES);
	for (guint i = 0; i < lode_replay_times_n(times); i++) {
		const LodeReplayTime *time = lode_replay_times_at(times, i);
		g_assert_cmpuint(time->first_reference, ==, first);
		first += time->n_references;
		n_instructions += time->n_instructions;
	}
	g_assert_cmpuint(first, ==, 65536000);
	g_assert_cmpuint(n_instructions, ==, 7000);
}

static void remove_files(void)
{
	static const char *const names[] = {"x.rps", "damaged.rps"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(directory, names[i], NULL);
		g_unlink(path);
	}
	g_rmdir(directory);
	g_free(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	directory = g_dir_make_tmp("lode-trace-replay-XXXXXX", NULL);
	g_test_add_func("/caches/trace_replay/simulation_agrees", test_simulation_agrees);
	g_test_add_func("/caches/trace_replay/damage", test_damage);
	g_test_add_func("/caches/trace_replay/warm_up", test_warm_up);
	g_test_add_func("/caches/trace_replay/windows", test_windows);
	g_test_add_func("/caches/trace_replay/times", test_times);
	g_test_add_func("/caches/trace_replay/joined_times", test_joined_times);
	g_test_add_func("/caches/trace_replay/stopped", test_stopped);
	int status = g_test_run();
	remove_files();
	return status;
}
