/* SPDX-License-Identifier: MIT */
#include "caches/replay_times.h"

#include "caches/stacks/stack_distances.h"

enum { FIRST_REFERENCES = 1 << 16 };

/* A stretch has so many numbers, after each other: those of all caches, then of all distances. */
enum {
	N_COUNTS = sizeof(LodeCacheCounts) / sizeof(uint64_t),
	N_REUSES = sizeof(LodeReplayReuses) / sizeof(uint64_t),
};

struct LodeReplayTimes {
	LodeReplayTimesOptions options;
	uint64_t length;      /* references of a stretch, at least */
	size_t *first_caches; /* of each hierarchy, among all; at the end their number */
	size_t n_numbers;
	GArray *times;    /* LodeReplayTime */
	GArray *numbers;  /* uint64_t × times × n_numbers */
	uint64_t *before; /* the sums, as the open one began… */
	uint64_t *now;    /* …and are */
	LodeReplayTime open;
};

LodeReplayTimes *lode_replay_times_new(const LodeReplayTimesOptions *options)
{
	LodeReplayTimes *self = g_new0(LodeReplayTimes, 1);
	uint64_t n = MAX(options->n_times, 1);

	self->options = *options;
	self->length = options->n_references > 0 ? (options->n_references - 1) / n + 1
	                                         : FIRST_REFERENCES;
	self->first_caches = g_new0(size_t, options->n_hierarchies + 1);
	for (size_t i = 0; i < options->n_hierarchies; i++)
		self->first_caches[i + 1] = self->first_caches[i] +
		                            options->hierarchies[i]->caches->len;
	self->n_numbers = self->first_caches[options->n_hierarchies] * N_COUNTS +
	                  options->n_distances * N_REUSES;
	self->times = g_array_new(FALSE, FALSE, sizeof(LodeReplayTime));
	self->numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->before = g_new0(uint64_t, self->n_numbers);
	self->now = g_new0(uint64_t, self->n_numbers);
	return self;
}

void lode_replay_times_free(LodeReplayTimes *self)
{
	if (self == NULL)
		return;
	g_free(self->first_caches);
	g_array_unref(self->times);
	g_array_unref(self->numbers);
	g_free(self->before);
	g_free(self->now);
	g_free(self);
}

uint64_t lode_replay_times_left(const LodeReplayTimes *self)
{
	return self->length - self->open.n_references;
}

static void read_distances(LodeStackDistances *distances, LodeReplayReuses *out)
{
	out->n_accesses = lode_stack_distances_n_accesses(distances);
	out->n_first = lode_stack_distances_n_lines(distances);
	lode_miss_curve_count_reuses(distances, out->reuses);
}

static void read_now(LodeReplayTimes *self, const LodeCacheSimulation *simulation,
	LodeStackDistances *const *distances)
{
	LodeCacheCounts *counts = (LodeCacheCounts *)self->now;
	size_t n_caches = self->first_caches[self->options.n_hierarchies];
	LodeReplayReuses *reuses = (LodeReplayReuses *)(self->now + n_caches * N_COUNTS);

	for (size_t i = 0; simulation != NULL && i < self->options.n_hierarchies; i++)
		for (size_t j = self->first_caches[i]; j < self->first_caches[i + 1]; j++)
			*counts++ = lode_cache_simulation_counts(
				simulation, i)[j - self->first_caches[i]];
	for (size_t i = 0; i < self->options.n_distances; i++)
		read_distances(distances[i], reuses++);
}

/* Each two become one, and an odd last one is open again. */
static void join_pairs(LodeReplayTimes *self)
{
	LodeReplayTime *times = (LodeReplayTime *)(void *)self->times->data;
	uint64_t *numbers = (uint64_t *)(void *)self->numbers->data;
	guint n = self->times->len / 2;
	size_t size = self->n_numbers;

	for (guint i = 0; i < n; i++) {
		times[i] = times[2 * i];
		times[i].n_references += times[2 * i + 1].n_references;
		times[i].n_instructions += times[2 * i + 1].n_instructions;
		for (size_t j = 0; j < size; j++)
			numbers[i * size + j] = numbers[2 * i * size + j] +
			                        numbers[(2 * i + 1) * size + j];
	}
	g_array_set_size(self->times, n);
	g_array_set_size(self->numbers, (guint)(n * size));
	self->length *= 2;
}

static void end_time(LodeReplayTimes *self, const LodeCacheSimulation *simulation,
	LodeStackDistances *const *distances)
{
	read_now(self, simulation, distances);
	for (size_t i = 0; i < self->n_numbers; i++) {
		uint64_t added = self->now[i] - self->before[i];
		g_array_append_val(self->numbers, added);
		self->before[i] = self->now[i];
	}
	g_array_append_val(self->times, self->open);
	self->open.n_references = 0;
	self->open.n_instructions = 0;
	if (self->options.n_references == 0 && self->times->len == 2 * self->options.n_times)
		join_pairs(self);
}

void lode_replay_times_add(LodeReplayTimes *self, const LodeTraceFrame *frame,
	const LodeCacheSimulation *simulation, LodeStackDistances *const *distances)
{
	if (self->open.n_references == 0)
		self->open.first_reference = frame->first_reference;
	self->open.n_references += frame->n_references;
	self->open.n_instructions += frame->n_instructions;
	if (self->open.n_references >= self->length)
		end_time(self, simulation, distances);
}

void lode_replay_times_finish(LodeReplayTimes *self, const LodeCacheSimulation *simulation,
	LodeStackDistances *const *distances)
{
	if (self->open.n_references > 0)
		end_time(self, simulation, distances);
}

guint lode_replay_times_n(const LodeReplayTimes *self)
{
	return self->times->len;
}

const LodeReplayTime *lode_replay_times_at(const LodeReplayTimes *self, guint time)
{
	return &g_array_index(self->times, LodeReplayTime, time);
}

static const uint64_t *numbers_at(const LodeReplayTimes *self, guint time)
{
	return (const uint64_t *)(const void *)self->numbers->data + time * self->n_numbers;
}

const LodeCacheCounts *lode_replay_times_counts(
	const LodeReplayTimes *self, guint time, size_t hierarchy, size_t cache)
{
	return (const LodeCacheCounts *)numbers_at(self, time) + self->first_caches[hierarchy] +
	       cache;
}

const LodeReplayReuses *lode_replay_times_reuses(
	const LodeReplayTimes *self, guint time, size_t distance)
{
	size_t n_caches = self->first_caches[self->options.n_hierarchies];

	return (const LodeReplayReuses *)(numbers_at(self, time) + n_caches * N_COUNTS) + distance;
}

uint64_t lode_replay_reuses_misses(const LodeReplayReuses *self, unsigned bin)
{
	uint64_t misses = self->n_first;

	for (unsigned i = bin + 1; i < LODE_REUSE_MAX_BINS; i++)
		misses += self->reuses[i];
	return misses;
}
