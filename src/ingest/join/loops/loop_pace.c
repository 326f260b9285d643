/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_times.h"

#include "base/arrays/sort_order.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

enum { TRIMMED = 20 }; /* one in so many, at either end: a pair was delayed */

static const double MOST_BACKWARD = 0.02, MOST_SCATTER = 1.5;

static double ratio_of(const LodePace *pace)
{
	return pace->iterations > 0 ? pace->time_ns / pace->iterations : INFINITY;
}

LODE_ORDER(compare_iterations, LodePace, LODE_ASCENDING(iterations))

static int compare_ratios(const void *a, const void *b)
{
	double left = ratio_of(a), right = ratio_of(b);

	return lode_compare_doubles(&left, &right);
}

/* The sum of times ÷ the sum of iterations, with its error by what each pair is off. */
static void divide_sums(const LodePace *paces, size_t n, LodePaceTime *out)
{
	double time = 0, error = 0, iterations = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		time += paces[i].time_ns;
		error += paces[i].error_ns;
		iterations += paces[i].iterations;
	}
	out->ns = time / iterations;
	for (size_t i = 0; i < n; i++) {
		double rest = paces[i].time_ns - out->ns * paces[i].iterations;
		squares += rest * rest;
	}
	out->error_ns = hypot(
		sqrt(squares * (double)n / (double)(n - 1)) / iterations, error / iterations);
}

bool lode_pace_time(LodePace *paces, size_t n, LodePaceTime *out)
{
	LodePaceTime found = {.n = n};
	size_t n_backward = 0;

	for (size_t i = 0; i < n; i++)
		n_backward += paces[i].iterations < 0;
	if (n < LODE_PACE_FEWEST || (double)n_backward > MOST_BACKWARD * (double)n)
		return false;
	qsort(paces, n, sizeof(LodePace), compare_iterations);
	paces += n_backward;
	n -= n_backward;
	size_t n_trimmed = 0;
	if (paces[n / 2].iterations >= LODE_PACE_SMOOTH) {
		qsort(paces, n, sizeof(LodePace), compare_ratios);
		double scatter = ratio_of(&paces[n - n / 4 - 1]) - ratio_of(&paces[n / 4]);
		if (!isfinite(scatter) || scatter > MOST_SCATTER * ratio_of(&paces[n / 2]))
			return false;
		n_trimmed = (n + TRIMMED - 1) / TRIMMED;
	}
	divide_sums(paces + n_trimmed, n - 2 * n_trimmed, &found);
	if (!isfinite(found.ns) || !isfinite(found.error_ns) || found.error_ns > found.ns / 2)
		return false;
	*out = found;
	return true;
}
