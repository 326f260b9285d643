/* SPDX-License-Identifier: MIT */
/* The totals of a group of memory samples. */
#pragma once

#include <stdint.h>

typedef struct LodeMemorySample LodeMemorySample;

typedef struct {
	uint64_t n_samples;         /* one with two operands in the group counts once */
	uint64_t n_loads, n_stores; /* accesses; one that reads and writes counts in both */
	uint64_t n_latencies;       /* accesses with a latency */
	double latency;             /* their sum */
	double weight;
	uint32_t next_row; /* private: after the last one added */
} LodeAccessTotals;

/* `row` is the sample's number; rows are added in ascending order. */
void lode_access_totals_add(LodeAccessTotals *self, const LodeMemorySample *sample, uint32_t row);

/* The sum of two groups; a sample with an operand in each counts in both. */
static inline void lode_access_totals_join(LodeAccessTotals *self, const LodeAccessTotals *other)
{
	self->n_samples += other->n_samples;
	self->n_loads += other->n_loads;
	self->n_stores += other->n_stores;
	self->n_latencies += other->n_latencies;
	self->latency += other->latency;
	self->weight += other->weight;
}

/* 0 where no latency was recorded. */
static inline double lode_access_totals_latency(const LodeAccessTotals *self)
{
	return self->n_latencies > 0 ? self->latency / (double)self->n_latencies : 0;
}
