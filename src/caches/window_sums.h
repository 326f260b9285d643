/* SPDX-License-Identifier: MIT */
/*
 * How far the miss ratio of a sample may be from that of the whole trace, by how much it varies
 * from window to window: the ratio estimator of survey sampling (W. Cochran, "Sampling Techniques",
 * 3rd edition, 1977, section 6.4), with the correction for a sample that is a large part of the
 * whole. It does not include the misses that a longer warm-up would have avoided.
 */
#pragma once

#include <stdint.h>

typedef struct {
	uint64_t n_windows;
	double accesses, misses;                          /* sums over the windows */
	double accesses_squared, misses_squared, product; /* likewise */
} LodeWindowSums;

void lode_window_sums_add(LodeWindowSums *self, uint64_t accesses, uint64_t misses);

/* Half the width of the 95 % interval around misses / accesses, where windows are the share
 * `sampled` (0 … 1) of the whole; NAN for fewer than two windows, or without accesses. */
double lode_window_sums_error(const LodeWindowSums *self, double sampled);
