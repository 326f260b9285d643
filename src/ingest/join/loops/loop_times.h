/* SPDX-License-Identifier: MIT */
/*
 * How long an iteration of each loop takes, by pairs of samples in it: an inner loop whose calls
 * are shorter than the distance of samples has no time, and the loop around it has one.
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/loop_pace.h"
#include "ingest/join/loops/loop_rounds.h"
#include "ingest/sampled/registers/sample_pairs.h"

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
typedef struct LodeLoopTimes LodeLoopTimes;
LodeLoopTimes *lode_loop_times_new(void);
void lode_loop_times_free(LodeLoopTimes *self);

/* Appends a LodeLoopTime for each loop of which it is known. */
void lode_loop_times_find(LodeLoopTimes *self, const LodeLoopCode *code, const LodeLoopPair *pairs,
	size_t n_pairs, GArray *out);
