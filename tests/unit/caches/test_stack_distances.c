/* SPDX-License-Identifier: MIT */
/*
 * Stack distances against a list of lines that is searched from its top, on random traces; curves
 * against the misses that the list tells.
 */
#include "base/error.h"
#include "caches/stacks/miss_curve.h"
#include "caches/stacks/recency_tree.h"
#include "caches/stacks/stack_distances.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

#include <string.h>

/* The naive way: lines in an array, the most recent first. */
typedef struct {
	LodeStackDistancesOptions options;
	GArray *lines;     /* uint64_t */
	GArray *histogram; /* uint64_t by depth */
	GArray *uses;      /* NaiveUse */
	uint64_t n_accesses;
} NaiveStack;

typedef struct {
	uint16_t thread;
	guint depth; /* FIRST: none had used the line */
} NaiveUse;

#define FIRST G_MAXUINT

static void naive_init(NaiveStack *self, const LodeStackDistancesOptions *options)
{
	self->options = *options;
	self->lines = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->histogram = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	self->uses = g_array_new(FALSE, FALSE, sizeof(NaiveUse));
	self->n_accesses = 0;
}

static void naive_clear(NaiveStack *self)
{
	g_array_unref(self->lines);
	g_array_unref(self->histogram);
	g_array_unref(self->uses);
}

static void naive_use(NaiveStack *self, uint64_t line, uint16_t thread)
{
	const uint64_t *lines = (const void *)self->lines->data;
	guint depth = 0, n = self->lines->len;

	while (depth < n && lines[depth] != line)
		depth++;
	const NaiveUse use = {thread, depth < n ? depth : FIRST};
	g_array_append_val(self->uses, use);
	self->n_accesses++;
	if (depth < self->lines->len) {
		g_array_index(self->histogram, uint64_t, depth)++;
		g_array_remove_index(self->lines, depth);
	} else {
		g_array_set_size(self->histogram, self->histogram->len + 1);
	}
	g_array_prepend_val(self->lines, line);
}

/* Byte by byte, so that lines are not computed as the program under test does it. */
static void naive_add(NaiveStack *self, const LodeReference *reference)
{
	uint8_t kind = reference->kind == LODE_REFERENCE_FETCH ? LODE_CACHE_INSTRUCTIONS
	                                                       : LODE_CACHE_DATA;
	uint64_t before = 0;

	if ((self->options.holds & kind) == 0)
		return;
	for (uint32_t i = 0; i < MAX(reference->size, 1); i++) {
		uint64_t line = (reference->address + i) / self->options.line_bytes;

		if (i == 0 || line != before)
			naive_use(self, line, reference->thread);
		before = line;
	}
}

static void replay_all(const GArray *references, LodeStackDistances *distances)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(GError) error = NULL;

	for (guint at = 0; at < references->len;) {
		/* Small frames, as if each were full. */
		guint n = MIN(references->len - at, 700);

		at += (guint)lode_block_splitter_add(
			splitter, &g_array_index(references, LodeReference, at), n);
		g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
		g_assert_true(lode_stack_distances_replay(distances, frame, &error));
		g_assert_no_error(error);
	}
}

/* Of a fully associative LRU cache of so many lines, first accesses included. */
static uint64_t misses_of(LodeStackDistances *distances, uint64_t n_lines)
{
	uint64_t misses = lode_stack_distances_n_lines(distances);
	size_t n;
	const uint64_t *histogram = lode_stack_distances_histogram(distances, &n);

	for (uint64_t d = n_lines; d < n; d++)
		misses += histogram[d];
	return misses;
}

static void check_curve(LodeStackDistances *distances)
{
	g_autoptr(LodeMissCurve) curve = lode_miss_curve_new(distances);
	uint64_t n = curve->n_lines, before = 0;

	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);

		g_assert_cmpuint(point->n_lines, >, before);
		g_assert_cmpuint(point->misses, ==, misses_of(distances, point->n_lines));
		before = point->n_lines;
	}
	g_assert_cmpuint(before, ==, n);
	for (unsigned i = 0; i < curve->n_bins; i++) {
		uint64_t low = i > 0 ? UINT64_C(1) << (i - 1) : 0;

		g_assert_cmpuint(curve->reuses[i], ==,
			misses_of(distances, low) - misses_of(distances, UINT64_C(1) << i));
		n += curve->reuses[i];
	}
	g_assert_cmpuint(n, ==, curve->n_accesses);
}

/* Each thread has its uses; those of all are the sum. */
static void check_threads(LodeStackDistances *distances, const NaiveStack *naive)
{
	for (unsigned thread = 0; thread < lode_stack_distances_n_threads(distances); thread++) {
		const LodeThreadDistances found = lode_stack_distances_thread(distances, thread);
		g_autofree uint64_t *histogram = g_new0(uint64_t, MAX(naive->lines->len, 1));
		g_autoptr(LodeMissCurve) curve = lode_miss_curve_new_thread(distances, thread);
		uint64_t n_accesses = 0, n_first = 0;

		for (guint i = 0; i < naive->uses->len; i++) {
			const NaiveUse *use = &g_array_index(naive->uses, NaiveUse, i);
			if (use->thread != thread)
				continue;
			n_accesses++;
			n_first += use->depth == FIRST;
			if (use->depth != FIRST)
				histogram[use->depth]++;
		}
		g_assert_cmpuint(found.n_accesses, ==, n_accesses);
		g_assert_cmpuint(found.n_first, ==, n_first);
		for (guint i = 0; i < naive->lines->len; i++)
			g_assert_cmpuint(i < found.n ? found.histogram[i] : 0, ==, histogram[i]);
		g_assert_cmpuint(curve->thread, ==, thread);
		g_assert_cmpuint(curve->n_accesses, ==, n_accesses);
		if (curve->points->len > 0)
			g_assert_cmpuint(
				g_array_index(curve->points, LodeMissPoint, curve->points->len - 1)
					.misses,
				==, n_first);
	}
}

static void check_way(const GArray *references, const LodeStackDistancesOptions *options)
{
	g_autoptr(LodeStackDistances) distances = lode_stack_distances_new(options);
	NaiveStack naive;
	size_t n;

	naive_init(&naive, options);
	for (guint i = 0; i < references->len; i++)
		naive_add(&naive, &g_array_index(references, LodeReference, i));
	replay_all(references, distances);
	const uint64_t *histogram = lode_stack_distances_histogram(distances, &n);
	g_assert_cmpuint(lode_stack_distances_n_accesses(distances), ==, naive.n_accesses);
	g_assert_cmpuint(lode_stack_distances_n_lines(distances), ==, naive.lines->len);
	g_assert_cmpuint(n, ==, naive.histogram->len);
	for (guint i = 0; i < n; i++)
		g_assert_cmpuint(histogram[i], ==, g_array_index(naive.histogram, uint64_t, i));
	check_curve(distances);
	check_threads(distances, &naive);
	naive_clear(&naive);
}

static void check(const GArray *references, const LodeStackDistancesOptions *options)
{
	LodeStackDistancesOptions by_thread = *options;

	by_thread.by_thread = true;
	check_way(references, options);
	check_way(references, &by_thread);
}

static const uint32_t sizes[] = {0, 1, 4, 8, 8, 16, 64, 300};

static uint64_t random_address(GRand *random, uint64_t bytes)
{
	uint64_t address = g_rand_int(random);

	/* Near and far ones, as a program's stack and heap; around the end of all addresses. */
	if (g_rand_int_range(random, 0, 3) > 0)
		return UINT64_C(0x7fff0000) + address % (bytes / 16 + 1);
	return address % bytes - (g_rand_int_range(random, 0, 50) == 0 ? bytes / 2 : 0);
}

/* Loops through code, now and then elsewhere, with data references between. */
static GArray *random_references(GRand *random, guint n)
{
	GArray *references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	uint64_t bytes = UINT64_C(1) << g_rand_int_range(random, 8, 20);
	uint64_t pc = 0x400000;
	uint16_t thread = 2;

	while (references->len < n) {
		if (g_rand_int_range(random, 0, 100) == 0)
			thread = (uint16_t)g_rand_int_range(random, 0, 4);
		LodeReference fetch = {pc, (uint32_t)g_rand_int_range(random, 1, 12), thread,
			LODE_REFERENCE_FETCH};
		int n_data = g_rand_int_range(random, -1, 3);

		if (g_rand_int_range(random, 0, 30) > 0)
			g_array_append_val(references, fetch);
		pc += fetch.size;
		if (g_rand_int_range(random, 0, 6) == 0)
			pc = 0x400000 + g_rand_int(random) % bytes;
		for (int i = 0; i < n_data; i++) {
			LodeReference data = {random_address(random, bytes),
				sizes[g_rand_int(random) % G_N_ELEMENTS(sizes)], thread,
				(uint8_t)g_rand_int_range(random, 1, LODE_N_REFERENCE_KINDS)};
			g_array_append_val(references, data);
		}
	}
	return references;
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(1));

	for (unsigned i = 0; i < random_rounds(20, 60); i++) {
		g_autoptr(GArray) references = random_references(
			random, (guint)g_rand_int_range(random, 1, 12000));
		LodeStackDistancesOptions options = {
			.line_bytes = 1U << g_rand_int_range(random, 2, 13),
			.holds = (uint8_t)g_rand_int_range(random, 1, 4),
		};
		check(references, &options);
	}
}

/* So many lines that tables grow and moments are numbered anew, many times. */
static void test_many_lines(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(2));
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	LodeStackDistancesOptions options = {.line_bytes = 64, .holds = LODE_CACHE_DATA};
	const uint32_t n = random_rounds(60000, 60000);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bound = i < 8000 ? i + 1 : 4000;
		LodeReference load = {64 * (uint64_t)(i < 8000 ? i : g_rand_int(random) % bound), 8,
			(uint16_t)(i / 5000 % 3), LODE_REFERENCE_LOAD};
		g_array_append_val(references, load);
	}
	check(references, &options);
}

static void test_one_address_for_ever(void)
{
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	LodeStackDistancesOptions options = {.line_bytes = 64, .holds = LODE_CACHE_DATA};
	LodeReference load = {UINT64_MAX, 2, 0, LODE_REFERENCE_LOAD};

	/* The last byte of the last line, and the first one of the first. */
	for (unsigned i = 0; i < 5000; i++)
		g_array_append_val(references, load);
	check(references, &options);
}

static void test_nothing(void)
{
	LodeStackDistancesOptions options = {.line_bytes = 64, .holds = LODE_CACHE_DATA};
	g_autoptr(LodeStackDistances) distances = lode_stack_distances_new(&options);
	g_autoptr(LodeMissCurve) curve = lode_miss_curve_new(distances);

	g_assert_cmpuint(curve->points->len, ==, 0);
	g_assert_cmpuint(curve->n_bins, ==, 0);
	g_assert_cmpfloat(lode_miss_curve_ratio(curve, 0), ==, 0);
}

static void check_refused(const LodeReference *reference, const char *message)
{
	LodeStackDistancesOptions options = {
		.line_bytes = 64, .holds = LODE_CACHE_DATA, .max_lines = 1000};
	g_autoptr(LodeStackDistances) distances = lode_stack_distances_new(&options);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(GError) error = NULL;

	lode_block_splitter_add(splitter, reference, 1);
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	bool done = lode_stack_distances_replay(distances, frame, &error);
	if (message == NULL) {
		g_assert_no_error(error);
		g_assert_true(done);
	} else {
		g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
		g_assert_cmpstr(error->message, ==, message);
	}
}

static void test_limits(void)
{
	LodeReference fits = {0, 64000, 0, LODE_REFERENCE_STORE};
	LodeReference too_many = {0, 64001, 0, LODE_REFERENCE_STORE};
	LodeReference too_large = {0, UINT32_MAX, 0, LODE_REFERENCE_STORE};

	check_refused(&fits, NULL);
	check_refused(&too_many, "more than 1000 different lines of 64 bytes: stack distances need "
				 "larger lines");
	check_refused(&too_large,
		"a reference of 4294967295 bytes: stack distances are for at most 1048576");
}

/* Every level of a tree, against the marks themselves. */
static void test_recency_tree(void)
{
	const uint32_t capacity = 1 << 17;
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(3));
	g_autofree uint8_t *marks = g_new0(uint8_t, capacity);
	LodeRecencyTree tree;

	lode_recency_tree_init(&tree, capacity);
	while (!lode_recency_tree_is_full(&tree)) {
		uint32_t moment = lode_recency_tree_mark(&tree);
		uint32_t other = moment - g_rand_int(random) % (moment + 1);

		marks[moment] = 1;
		if (marks[other] != 0 && g_rand_int_range(random, 0, 3) > 0) {
			lode_recency_tree_unmark(&tree, other);
			marks[other] = 0;
		}
		if (moment % 499 != 0 && !lode_recency_tree_is_full(&tree))
			continue;
		for (uint32_t at = moment + 1, after = 0; at-- > 0; after += marks[at])
			if (marks[at] != 0 && g_rand_int_range(random, 0, 20) == 0)
				g_assert_cmpuint(
					lode_recency_tree_count_after(&tree, at), ==, after);
	}
	lode_recency_tree_clear(&tree);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/caches/stack_distances/random", test_random);
	g_test_add_func("/caches/stack_distances/many_lines", test_many_lines);
	g_test_add_func("/caches/stack_distances/one_address", test_one_address_for_ever);
	g_test_add_func("/caches/stack_distances/nothing", test_nothing);
	g_test_add_func("/caches/stack_distances/limits", test_limits);
	g_test_add_func("/caches/stack_distances/recency_tree", test_recency_tree);
	return g_test_run();
}
