/* SPDX-License-Identifier: MIT */
/*
 * Processes that share one piece of work: under MPI its ranks, in tests threads. Each has all data,
 * takes the next part that no rank has taken from a counter, and what each has found is added up at
 * the end, so that all have the whole.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The exchanged data, as each rank counts it. */
typedef struct {
	uint64_t n_taken;         /* parts, by this rank */
	uint64_t n_sums, n_bytes; /* of one rank's numbers */
	double wait_seconds;      /* from when this rank had no more work until it had the sums */
	/* Processor seconds of the search: this rank's, and all ranks'. */
	double own_work_seconds, work_seconds;
} LodeRankTraffic;

typedef struct LodeRanks LodeRanks;

struct LodeRanks {
	unsigned rank, size;
	unsigned n_threads; /* of all ranks together */
	/* Adds up `values`, of as many on each rank, number by number; all ranks then have the
	 * sums, which are the same to the last bit. It does not return where a rank is lost. */
	void (*sum)(LodeRanks *self, double *values, size_t n);
	/* Adds to the counter of all ranks, which begins at 0, and returns its value before. By any
	 * thread, one at a time. */
	uint64_t (*count)(LodeRanks *self, uint64_t more);
	void *user_data;
	uint64_t first_part;    /* the counter where this search began */
	double prepare_seconds; /* of this rank's processors, for reading */
	LodeRankTraffic traffic;
};
