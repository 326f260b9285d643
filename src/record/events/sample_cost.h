/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the time that a sample takes from the program that is sampled, mostly that of
 * the timer's interrupt: some 2 µs on a processor, 12 µs where a hypervisor is called three times
 * for it.
 *
 *   the clock, read again and again:  ││││││││          ││││││││          ││││
 *                                             └─ a sample ─┘       └─ …
 */
#pragma once

#include "record/events/perf_kernel.h"

/* Of a timer's sample, the median of some milliseconds on the processor that we run on; 0: it
 * cannot be measured, as where sampling is forbidden. */
uint64_t lode_sample_cost_ns(const LodePerfKernel *kernel);
