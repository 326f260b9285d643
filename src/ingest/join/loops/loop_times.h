/* SPDX-License-Identifier: MIT */
/*
 * How long an iteration of each loop takes, by pairs of samples in it: an inner loop whose calls
 * are shorter than the distance of samples has no time, and the loop around it has one.
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/loop_rounds.h"
#include "ingest/sampled/registers/sample_pairs.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct LodeLoopTimes LodeLoopTimes;

/*
 * The time that an iteration of a loop takes, from pairs of samples of one thread in one call of
 * the loop: the processor time between them ÷ the iterations between them.
 */

enum {
	LODE_PACE_FEWEST = 8,  /* pairs from which a time is known */
	LODE_PACE_SMOOTH = 16, /* iterations of a pair from which one more or less is no matter */
};

typedef struct {
	double time_ns;    /* processor time, without what samples cost */
	double error_ns;   /* of it, the same way in all pairs: of the cost of samples */
	double iterations; /* ≤ 0: the loop may have begun again in between */
} LodePace;

typedef struct {
	double ns, error_ns; /* of one iteration; one standard error */
	size_t n;            /* pairs */
} LodePaceTime;

/*
 * The sum of times ÷ the sum of iterations: the mean, as pairs lie evenly in time. Where the median
 * pair has LODE_PACE_SMOOTH iterations or more, one pair in twenty with the lowest ratio, and one
 * with the highest, are left out. False, not known: there are too few pairs; more than 2 % of them
 * go backward, so that calls are about as short as the distance of samples; half of the pairs
 * scatter by more than 1.5 of the median; or the error is more than half of the time. May sort the
 * pairs.
 */
bool lode_pace_time(LodePace *paces, size_t n, LodePaceTime *out);

/* A pair by its nodes, and the function that both are of. */
typedef struct {
	uint32_t function, nodes[2];
	uint32_t called; /* instruction: that of the second sample, which the caller called itself;
	                    LODE_NONE: it is not known, or it did not */
	uint32_t called_function;
	const LodeSamplePair *pair; /* borrowed */
} LodeLoopPair;

typedef struct {
	uint32_t head; /* node */
	LodePaceTime time;
} LodeLoopTime;

/* Working memory, kept from one function to the next. */
LodeLoopTimes *lode_loop_times_new(void);
void lode_loop_times_free(LodeLoopTimes *self);

/* Appends a LodeLoopTime for each loop of which it is known. */
void lode_loop_times_find(LodeLoopTimes *self, const LodeLoopCode *code, const LodeLoopPair *pairs,
	size_t n_pairs, GArray *out);
