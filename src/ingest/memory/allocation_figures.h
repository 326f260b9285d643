/* SPDX-License-Identifier: MIT */
/*
 * The figures of allocations: for each path the bytes at the peak, at the end, and the lifetimes;
 * for each site its own peak. All processes are on one axis of time. Private to ingest/.
 */
#pragma once

#include "sources/allocations/allocation_log.h"

typedef struct LodeMemory LodeMemory;

/* The path of an allocation of a log. */
typedef struct {
	const LodeAllocationLog *log;
	const GArray *stack_paths;                 /* uint32_t of each of its stacks */
	uint32_t unknown[LODE_N_ALLOCATION_KINDS]; /* of what has no stack; LODE_NONE: there is none
	                                            */
} LodeLogPaths;

/*
 * Adds to the paths of `memory`, which have their sites, and sets site_peaks and heap_peak. False:
 * not enough memory, then there are no peaks.
 */
bool lode_allocation_figures_add(LodeMemory *memory, const LodeLogPaths *logs, size_t n_logs);

/* The path of an allocation; LODE_NONE: its stack is one that was left out. */
uint32_t lode_log_paths_find(const LodeLogPaths *self, const LodeLoggedAllocation *allocation);
