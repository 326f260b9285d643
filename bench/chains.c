/* SPDX-License-Identifier: MIT */
/*
 * Chains of dependent instructions on this machine, beside what cores.ini has for their sum.
 *
 *   chains [SERIES]      name  least, median, most of the series  the table's, "above" where that
 *                        is more than the least
 *
 * A bound must not be above the least time that is measured: the exit status is 1 where one is.
 * Each of a series is what a recording would keep; "within" says in how many it is within 10 % of
 * the median of all, of those in which it is known at all.
 */
#include "base/arrays/sort_order.h"
#include "base/monotonic_clock.h"
#include "images/cores/core_calibration.h"
#include "machine/figures/core_figures.h"
#include "machine/processor.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Measured times are this much too short at most. */
static const double WRONG = 0.2;

static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(double), lode_compare_doubles);
	return values[n / 2];
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)CLAMP(atoi(argv[1]), 1, 1000) : 30;
	g_autofree LodeCoreFigures *series = g_new0(LodeCoreFigures, n);
	g_autofree double *times_ms = g_new(double, n);
	g_autofree double *values = g_new(double, n);
	g_autofree char *id = lode_processor_id();
	g_autoptr(LodeCore) core = lode_core_new(id);
	int n_above = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t begin_ns = lode_now_ns();
		series[i] = lode_core_figures_measure();
		times_ms[i] = (double)(lode_now_ns() - begin_ns) / 1e6;
	}
	double middle_ms = median_of(times_ms, n);
	printf("%s, by the table of %s; %zu series of %.1f ms (%.1f to %.1f)\n", id, core->name, n,
		middle_ms, times_ms[0], times_ms[n - 1]);
	printf("%-24s %6s %6s %6s %7s %6s\n", "", "least", "median", "most", "within", "table");
	for (unsigned k = 0; k < LODE_N_CORE_FIGURES; k++) {
		double table = lode_core_table_cycles(core, (LodeCoreFigure)k);
		size_t n_known = 0, n_within = 0;
		for (size_t i = 0; i < n; i++)
			if (series[i].of[k].median > 0)
				values[n_known++] = series[i].of[k].median;
		if (n_known == 0) {
			printf("%-24s not known\n", lode_core_figure_name((LodeCoreFigure)k));
			continue;
		}
		double middle = median_of(values, n_known);
		for (size_t i = 0; i < n_known; i++)
			n_within += fabs(values[i] - middle) <= 0.1 * middle;
		bool is_above = table > values[0] + WRONG;
		n_above += is_above;
		printf("%-24s %6.2f %6.2f %6.2f %3zu/%-3zu %6.1f%s\n",
			lode_core_figure_name((LodeCoreFigure)k), values[0], middle,
			values[n_known - 1], n_within, n_known, table, is_above ? "  above" : "");
	}
	return n_above > 0;
}
