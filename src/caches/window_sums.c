/* SPDX-License-Identifier: MIT */
#include "caches/window_sums.h"

#include <glib.h>
#include <math.h>

void lode_window_sums_add(LodeWindowSums *self, uint64_t accesses, uint64_t misses)
{
	double a = (double)accesses, m = (double)misses;

	self->n_windows++;
	self->accesses += a;
	self->misses += m;
	self->accesses_squared += a * a;
	self->misses_squared += m * m;
	self->product += a * m;
}

/* The 97.5 % quantile of Student's distribution; beyond the table within 0.5 %. */
static double student_quantile(uint64_t freedom)
{
	static const double few[] = {12.706, 4.303, 3.182, 2.776, 2.571};
	double f = (double)freedom;

	if (freedom <= G_N_ELEMENTS(few))
		return few[freedom - 1];
	return 1.96 + 2.37 / f + 2.8 / (f * f);
}

double lode_window_sums_error(const LodeWindowSums *self, double sampled)
{
	if (self->n_windows < 2 || self->accesses <= 0)
		return (double)NAN;
	double n = (double)self->n_windows, ratio = self->misses / self->accesses;
	double squares = self->misses_squared - 2 * ratio * self->product +
	                 ratio * ratio * self->accesses_squared;
	/* Rounding may leave less than nothing. */
	double variance = MAX(squares, 0) / (n - 1) * n * MAX(1 - sampled, 0);
	return student_quantile(self->n_windows - 1) * sqrt(variance) / self->accesses;
}
