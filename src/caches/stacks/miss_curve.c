/* SPDX-License-Identifier: MIT */
/* Miss curves from stack distances. */
#include "caches/stacks/miss_curve.h"

#include "caches/stacks/stack_distances.h"

#include <string.h>

/* Four sizes to an octave, as far as they are whole: 1 2 3 4 5 6 7 8 10 12 14 16 20 … */
static uint64_t next_size(uint64_t size)
{
	uint64_t step = 1;

	while (step * 8 <= size)
		step *= 2;
	return size + step;
}

static void add_points(LodeMissCurve *self, uint64_t n_lines)
{
	for (uint64_t size = 1; size < n_lines; size = next_size(size)) {
		LodeMissPoint point = {.n_lines = size};
		g_array_append_val(self->points, point);
	}
	LodeMissPoint last = {.n_lines = n_lines};
	if (n_lines > 0)
		g_array_append_val(self->points, last);
}

/* A point's misses are the uses at its depth or below: summed up from the deepest. */
static void count_misses(LodeMissCurve *self, const uint64_t *histogram, size_t n)
{
	uint64_t misses = self->n_lines;

	for (guint i = self->points->len; i-- > 0;) {
		LodeMissPoint *point = &g_array_index(self->points, LodeMissPoint, i);

		while (n > point->n_lines)
			misses += histogram[--n];
		point->misses = misses;
	}
}

static unsigned bin_of(uint64_t depth)
{
	return depth == 0 ? 0 : 64 - (unsigned)__builtin_clzll(depth);
}

static void sum_bins(const uint64_t *histogram, size_t n, uint64_t out_reuses[LODE_REUSE_MAX_BINS])
{
	memset(out_reuses, 0, LODE_REUSE_MAX_BINS * sizeof(*out_reuses));
	for (size_t depth = 0; depth < n; depth++)
		out_reuses[bin_of(depth)] += histogram[depth];
}

void lode_miss_curve_count_reuses(
	LodeStackDistances *distances, uint64_t out_reuses[LODE_REUSE_MAX_BINS])
{
	size_t n;
	const uint64_t *histogram = lode_stack_distances_histogram(distances, &n);

	sum_bins(histogram, n, out_reuses);
}

static void count_reuses(LodeMissCurve *self, const uint64_t *histogram, size_t n)
{
	sum_bins(histogram, n, self->reuses);
	self->n_bins = LODE_REUSE_MAX_BINS;
	while (self->n_bins > 0 && self->reuses[self->n_bins - 1] == 0)
		self->n_bins--;
}

static LodeMissCurve *curve_new(
	const LodeStackDistances *distances, const LodeThreadDistances *uses, uint32_t thread)
{
	LodeMissCurve *self = g_new0(LodeMissCurve, 1);
	const LodeStackDistancesOptions *options = lode_stack_distances_options(distances);

	self->line_bytes = options->line_bytes;
	self->holds = options->holds;
	self->thread = thread;
	self->n_accesses = uses->n_accesses;
	self->n_lines = uses->n_first;
	self->points = g_array_new(FALSE, FALSE, sizeof(LodeMissPoint));
	add_points(self, lode_stack_distances_n_lines(distances));
	count_misses(self, uses->histogram, uses->n);
	count_reuses(self, uses->histogram, uses->n);
	return self;
}

LodeMissCurve *lode_miss_curve_new(LodeStackDistances *distances)
{
	LodeThreadDistances all = {.n_accesses = lode_stack_distances_n_accesses(distances),
		.n_first = lode_stack_distances_n_lines(distances)};

	all.histogram = lode_stack_distances_histogram(distances, &all.n);
	return curve_new(distances, &all, LODE_MISS_CURVE_ALL);
}

LodeMissCurve *lode_miss_curve_new_thread(LodeStackDistances *distances, unsigned thread)
{
	const LodeThreadDistances uses = lode_stack_distances_thread(distances, thread);

	return curve_new(distances, &uses, thread);
}

void lode_miss_curve_free(LodeMissCurve *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->points);
	g_free(self);
}

double lode_miss_curve_ratio(const LodeMissCurve *self, uint64_t misses)
{
	return self->n_accesses > 0 ? (double)misses / (double)self->n_accesses : 0;
}

const char *lode_miss_curve_holds_text(uint8_t holds)
{
	if (holds == LODE_CACHE_DATA)
		return "data";
	return holds == LODE_CACHE_INSTRUCTIONS ? "instructions" : "all";
}
