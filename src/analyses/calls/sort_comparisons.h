/* SPDX-License-Identifier: MIT */
/*
 * Functions by which a sort of a library compares elements, and what only they call:
 *
 *   std::__introsort_loop ──▶ by_strength  hands.cpp:87 ──▶ strength ──▶ malloc
 *   a sort of a library       comparison                    of one, too
 *
 * Who calls a function is known from the stacks that reach beyond it; of recorded tops these are
 * the samples in the function itself. One that others call for a fifth of that or more is none.
 */
#pragma once

#include "analyses/calls/function_costs.h"

typedef struct LodeOwnLines LodeOwnLines;

/* A line of a function that a sort calls. */
typedef struct {
	uint32_t function; /* of LodeFunctionCosts */
	const char *file;  /* the profile's; NULL: no own line is known */
	uint32_t line;     /* 0 likewise */
	double cost;       /* in comparisons, divided among the lines by what is known to come
	                      from there */
} LodeSortComparison;

typedef struct {
	GArray *lines; /* LodeSortComparison, by falling cost */
	bool *is_of;   /* of each of the costs' functions: it compares, or only such call it */
	double cost;   /* of the event, with a comparison on the stack */
} LodeSortComparisons;

/* Empty without stacks. */
void lode_sort_comparisons_init(
	LodeSortComparisons *self, const LodeFunctionCosts *costs, const LodeOwnLines *own);
void lode_sort_comparisons_clear(LodeSortComparisons *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSortComparisons, lode_sort_comparisons_clear)
