/* SPDX-License-Identifier: MIT */
/*
 * Processes that share one piece of work, each with a part of the data: under MPI its ranks, in
 * tests threads. All run the same code in step, and what each found of its own part is added up,
 * so that all know the whole and decide alike.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LODE_RANKS_LEVELS = 64 };

/* What was exchanged, as each rank counts it. */
typedef struct {
	uint64_t n_sums, n_bytes; /* of one rank's numbers */
	double wait_seconds;      /* from when this rank was ready until it had the sums */
	/* Of processors, between sums: this rank's, and all ranks'. */
	double own_work_seconds, work_seconds;
} LodeRankTraffic;

typedef struct LodeRanks LodeRanks;

struct LodeRanks {
	unsigned rank, size;
	/* Adds up `values`, of as many on each rank, number by number; all ranks then have the
	 * sums, which are the same to the last bit. It does not return where a rank is lost. */
	void (*sum)(LodeRanks *self, double *values, size_t n);
	void *user_data;
	double prepare_seconds; /* of this rank's processors, before the search's first sum */
	LodeRankTraffic traffic[LODE_RANKS_LEVELS]; /* by level, as the caller of sum() has them */
};
