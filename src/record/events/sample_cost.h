/* SPDX-License-Identifier: MIT */
/*
 * The cost of a sample to the sampled program, and how fast the processor's clock is, measured in
 * this process once the program has ended: many short runs of additions, each of which needs the
 * one before and so takes one cycle, while an event samples them.
 *
 *   runs   ▂▂▂▂▂▇▂▂▂▂▂▂▇▂▂▂▂▂▂▇▂▂     by their time, high where there was a sample
 *
 * The cost is the median of these less the median of the others. Takes some 20 ms.
 */
#pragma once

#include "record/events/perf_kernel.h"

typedef struct {
	double sample_ns, sample_error_ns; /* 0 both: not known */
	double cycles_per_ns;              /* 0: not known */
} LodeSampleCost;

/* `attr`: of the event, which is opened for the calling thread. */
LodeSampleCost lode_sample_cost_measure(
	const LodePerfKernel *kernel, const struct perf_event_attr *attr);
