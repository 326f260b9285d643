/* SPDX-License-Identifier: MIT */
/*
 * The time that an iteration of a loop takes, from pairs of samples of one thread in one call of
 * the loop: the processor time between them ÷ the iterations between them. Private to ingest/join/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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
