/* SPDX-License-Identifier: MIT */
/* What stack distances say of caches. */
#include "caches/miss_curve.h"

#include <string.h>

/* Four sizes to an octave, as far as they are whole: 1 2 3 4 5 6 7 8 10 12 14 16 20 … */
static uint64_t next_size(uint64_t size)
{
	uint64_t step = 1;

	while (step * 8 <= size)
		step *= 2;
	return size + step;
}

static void add_points(LodeMissCurve *self)
{
	for (uint64_t size = 1; size < self->n_lines; size = next_size(size)) {
		LodeMissPoint point = {.n_lines = size};
		g_array_append_val(self->points, point);
	}
	LodeMissPoint last = {.n_lines = self->n_lines};
	if (self->n_lines > 0)
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

void lode_miss_curve_count_reuses(
	const LodeStackDistances *distances, uint64_t out_reuses[LODE_REUSE_MAX_BINS])
{
	size_t n;
	const uint64_t *histogram = lode_stack_distances_histogram(distances, &n);

	memset(out_reuses, 0, LODE_REUSE_MAX_BINS * sizeof(*out_reuses));
	for (size_t depth = 0; depth < n; depth++)
		out_reuses[bin_of(depth)] += histogram[depth];
}

static void count_reuses(LodeMissCurve *self, const LodeStackDistances *distances)
{
	lode_miss_curve_count_reuses(distances, self->reuses);
	self->n_bins = LODE_REUSE_MAX_BINS;
	while (self->n_bins > 0 && self->reuses[self->n_bins - 1] == 0)
		self->n_bins--;
}

LodeMissCurve *lode_miss_curve_new(const LodeStackDistances *distances)
{
	LodeMissCurve *self = g_new0(LodeMissCurve, 1);
	const LodeStackDistancesOptions *options = lode_stack_distances_options(distances);
	size_t n;
	const uint64_t *histogram = lode_stack_distances_histogram(distances, &n);

	self->line_bytes = options->line_bytes;
	self->holds = options->holds;
	self->n_accesses = lode_stack_distances_n_accesses(distances);
	self->n_lines = lode_stack_distances_n_lines(distances);
	self->points = g_array_new(FALSE, FALSE, sizeof(LodeMissPoint));
	add_points(self);
	count_misses(self, histogram, n);
	count_reuses(self, distances);
	return self;
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
