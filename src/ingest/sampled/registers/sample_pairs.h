/* SPDX-License-Identifier: MIT */
/*
 * Pairs of samples of one thread in one function with the same stack pointer, one after the other
 * there: by them the time of an iteration is measured (join/loops/loop_pace.h).
 *
 *   samples of a thread   f  f  g  f  f      pairs   f─f   f─f  f─f  (over g)
 *
 * The time between two is the time that the thread ran. It is not known, and there is no pair,
 * where switches were not recorded and the two are more than a period of a timer apart, or a window
 * was executed step by step in between. From each function a thousand pairs are kept, chosen at
 * random.
 *
 * Callers are in the function that the sample's code was called from, and make pairs of their own.
 * Private to ingest/.
 */
#pragma once

#include "images/data/data_access.h"
#include "ingest/windows/window_times.h"
#include "process/places.h"

typedef struct LodeSampledThreads LodeSampledThreads;

typedef struct {
	LodePlace places[2];
	double time_ns;  /* that the thread ran from one to the other, without what samples cost */
	double error_ns; /* of it, by the cost of samples */
	uint64_t registers[2][LODE_N_GENERAL_REGISTERS];
	uint32_t known; /* 1 << register: of both */
	bool is_of_caller;
	LodePlace called; /* of the second sample, as in LodePairSample */
	double n_samples; /* that the timer took from the first one to the second one */
	double weight;    /* how many pairs of the function it stands for */
} LodeSamplePair;

typedef struct LodeSamplePairs LodeSamplePairs;

LodeSamplePairs *lode_sample_pairs_new(void);
void lode_sample_pairs_free(LodeSamplePairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSamplePairs, lode_sample_pairs_free)

/* LodeSamplePair, those of a function in any order. */
const GArray *lode_sample_pairs_list(LodeSamplePairs *self);

/* Begins another recording. */
void lode_sample_pairs_begin(LodeSamplePairs *self);

/* How the times between the samples of a recording are known; borrowed. */
typedef struct {
	LodeSampledThreads *threads; /* NULL: switches were not recorded */
	const LodeWindowTimes *windows;
	double period_ns; /* between samples of a timer; 0: they are of another event */
	double cost_ns, cost_error_ns; /* what a sample costs */
} LodePairClock;

/* A sample in user code; all of its registers are known, or it is one of a caller. */
typedef struct {
	const LodePerfRecord *record;
	const LodeUserRegisters *registers;
	LodePlace place;
	uint64_t function; /* equal for places of one function; below 2^63 */
	bool is_of_caller; /* of the code of the sample that was added before */
	LodePlace called;  /* by a caller: that code; image LODE_NONE: it called another caller */
} LodePairSample;

void lode_sample_pairs_add(
	LodeSamplePairs *self, const LodePairSample *sample, const LodePairClock *clock);
