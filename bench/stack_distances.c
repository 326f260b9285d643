/* SPDX-License-Identifier: MIT */
/*
 * How fast stack distances are: uses of lines a second, of data, instructions and both, each on one
 * thread; then curves of data in six line sizes on one thread and on two.
 *
 *   stack_distances TRACE.rps …
 *
 * Reading is not timed. Single ones are in processor time, the best of three; threads by the clock.
 */
#include "caches/stacks/stack_distances.h"
#include "base/worker_pool.h"
#include "traces/trace_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_RUNS = 3, N_LINE_SIZES = 6, FIRST_LINE_BYTES = 16 };

static const uint8_t all_holds[] = {
	LODE_CACHE_DATA, LODE_CACHE_INSTRUCTIONS, LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS};
static const char *const names[] = {"data", "instructions", "all"};

typedef struct {
	const char *path;
	LodeStackDistances *distances[N_LINE_SIZES];
	size_t n_distances;
	unsigned n_threads;
	const LodeTraceFrame *frame;
	double seconds;
} Bench;

static void fail(const GError *error)
{
	fprintf(stderr, "stack_distances: %s\n", error->message);
	exit(1);
}

static double now(clockid_t which)
{
	struct timespec at;

	clock_gettime(which, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void replay_one(size_t task, unsigned worker, void *user_data)
{
	Bench *self = user_data;
	g_autoptr(GError) error = NULL;

	(void)worker;
	if (!lode_stack_distances_replay(self->distances[task], self->frame, &error))
		fail(error);
}

static void replay(Bench *self, clockid_t clock)
{
	const LodeTraceReaderOptions options = {.threads = 1};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(self->path, &options, &error);
	int more = 0;

	if (reader == NULL)
		fail(error);
	self->seconds = 0;
	while ((more = lode_trace_reader_next(reader, &self->frame, &error)) > 0) {
		double start = now(clock);
		lode_worker_pool_run(self->n_distances, self->n_threads, replay_one, self);
		self->seconds += now(clock) - start;
	}
	if (more < 0)
		fail(error);
}

static uint64_t n_accesses(const Bench *self)
{
	uint64_t n = 0;

	for (size_t i = 0; i < self->n_distances; i++)
		n += lode_stack_distances_n_accesses(self->distances[i]);
	return n;
}

static void clear(Bench *self)
{
	for (size_t i = 0; i < self->n_distances; i++)
		lode_stack_distances_free(self->distances[i]);
}

static void bench_one(const char *path, size_t which)
{
	double best = 0, accesses = 0, lines = 0;

	for (int i = 0; i < N_RUNS; i++) {
		const LodeStackDistancesOptions options = {
			.line_bytes = 64, .holds = all_holds[which]};
		Bench self = {.path = path, .n_distances = 1, .n_threads = 1};

		self.distances[0] = lode_stack_distances_new(&options);
		replay(&self, CLOCK_THREAD_CPUTIME_ID);
		accesses = (double)n_accesses(&self);
		lines = (double)lode_stack_distances_n_lines(self.distances[0]);
		best = i == 0 ? self.seconds : MIN(best, self.seconds);
		clear(&self);
	}
	printf("%-28s %-22s %9.1f M uses of %8.0f lines  %7.1f M/s\n", path, names[which],
		accesses / 1e6, lines, accesses / best / 1e6);
}

static void bench_threads(const char *path, unsigned n_threads)
{
	double best = 0, accesses = 0;

	for (int i = 0; i < N_RUNS; i++) {
		Bench self = {.path = path, .n_distances = N_LINE_SIZES, .n_threads = n_threads};

		for (unsigned size = 0; size < N_LINE_SIZES; size++) {
			const LodeStackDistancesOptions options = {
				.line_bytes = (uint32_t)FIRST_LINE_BYTES << size,
				.holds = LODE_CACHE_DATA};
			self.distances[size] = lode_stack_distances_new(&options);
		}
		replay(&self, CLOCK_MONOTONIC);
		accesses = (double)n_accesses(&self);
		best = i == 0 ? self.seconds : MIN(best, self.seconds);
		clear(&self);
	}
	printf("%-28s data × %d lines, %u thr. %9.1f M uses %19s %7.1f M/s\n", path, N_LINE_SIZES,
		n_threads, accesses / 1e6, "", accesses / best / 1e6);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: stack_distances TRACE.rps …\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		for (size_t which = 0; which < G_N_ELEMENTS(all_holds); which++)
			bench_one(argv[i], which);
		bench_threads(argv[i], 1);
		bench_threads(argv[i], 2);
	}
	return 0;
}
