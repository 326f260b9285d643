/* SPDX-License-Identifier: MIT */
#include "analyses/compare/comparison_figures.h"

#include "base/arrays/sort_order.h"

#include <math.h>

/* The deviations that a single comparison may reach by chance. */
#define ONE_ALONE 2.0
#define SLOWER_DEVIATIONS 3.0

/* Counted figures differ when they do by more than rounding. */
#define ROUNDING 1e-9

double lode_comparison_deviations(size_t n)
{
	double low = 0, high = 40;
	/* expm1 and log1p: with many rows the chance of each is tiny. */
	double chance = -expm1(log1p(-erfc(ONE_ALONE / G_SQRT2)) / (double)MAX(n, 1));

	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;
		if (erfc(middle / G_SQRT2) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

LodeEstimate lode_estimate_difference(LodeEstimate from, LodeEstimate to)
{
	return (LodeEstimate){to.value - from.value, hypot(from.error, to.error)};
}

void lode_compared_row_divide(LodeComparedRow *row)
{
	LodeEstimate x0 = row->sides[0].executed, x1 = row->sides[1].executed;
	LodeEstimate e0 = row->sides[0].each, e1 = row->sides[1].each;
	double each = (e0.value + e1.value) / 2, executed = (x0.value + x1.value) / 2;
	LodeEstimate more = lode_estimate_difference(x0, x1),
		     dearer = lode_estimate_difference(e0, e1);

	row->change = lode_estimate_difference(row->sides[0].time, row->sides[1].time);
	row->more_often = row->costs_more = lode_estimate_unknown;
	if (isnan(x0.value) || isnan(x1.value))
		return;
	/* Code that was not executed has no cost of its own to compare with. */
	if ((x0.value > 0) != (x1.value > 0)) {
		row->more_often = row->change;
		row->costs_more = (LodeEstimate){0, 0};
	} else if (x0.value > 0 && isfinite(each)) {
		/* The products' errors, to the first order; the four figures are independent. */
		row->more_often = (LodeEstimate){
			more.value * each, hypot(more.error * each, more.value * dearer.error / 2)};
		row->costs_more = (LodeEstimate){dearer.value * executed,
			hypot(dearer.error * executed, dearer.value * more.error / 2)};
	}
}

bool lode_estimate_exceeds(LodeEstimate change, double scale, double deviations)
{
	return !isnan(change.error) &&
	       fabs(change.value) > fmax(deviations * change.error, ROUNDING * scale);
}

LodeEstimate lode_speed_apply(const LodeSpeed *speed, LodeEstimate time)
{
	double spread = hypot(speed->error, speed->scatter) * time.value;

	return (LodeEstimate){
		speed->factor * time.value, speed->factor * hypot(time.error, spread)};
}

static LodeEstimate times(LodeEstimate estimate, double factor)
{
	return (LodeEstimate){factor * estimate.value, factor * estimate.error};
}

bool lode_compared_row_is_slower(
	const LodeComparison *comparison, const LodeComparedRow *row, double share)
{
	LodeEstimate before = row->sides[0].time, after = row->sides[1].time;
	LodeEstimate more = lode_estimate_difference(times(before, 1 + share), after);
	LodeEstimate beside = lode_estimate_difference(
		times(lode_speed_apply(&comparison->speed, before), 1 + share), after);
	double deviations = fmax(SLOWER_DEVIATIONS, comparison->kinds[row->kind].deviations);
	bool is_kind = row->kind == LODE_COMPARED_PATTERN || row->kind == LODE_COMPARED_PLACE ||
	               row->kind == LODE_COMPARED_FUNCTION;

	return is_kind && row->is_told && more.value > 0 && beside.value > 0 &&
	       lode_estimate_exceeds(more, after.value, deviations) &&
	       lode_estimate_exceeds(beside, after.value, deviations);
}

/* The median of a χ² of one degree of freedom, and from where on what lies further out is left
 * out. */
#define MEDIAN_SQUARE 0.4549
#define OUTLIER 3.0

static double median_of(GArray *values)
{
	g_array_sort(values, lode_compare_doubles);
	return (g_array_index(values, double, (values->len - 1) / 2) +
		       g_array_index(values, double, values->len / 2)) /
	       2;
}

static double median_square(const GArray *controls, double middle, double scatter)
{
	g_autoptr(GArray) squares = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < controls->len; i++) {
		const LodeUnchangedFunction *one = &g_array_index(
			controls, LodeUnchangedFunction, i);
		double square = (one->ratio - middle) * (one->ratio - middle) /
		                (one->variance + scatter * scatter);
		g_array_append_val(squares, square);
	}
	return median_of(squares);
}

/*
 * By medians, so that what runs more often though its code is the same does not count: at first the
 * median, then the scatter at which half of the functions are as near as half of a normal
 * distribution is, then the mean of those near enough, each by its variance.
 */
void lode_speed_estimate(const GArray *controls, LodeSpeed *out)
{
	g_autoptr(GArray) ratios = g_array_new(FALSE, FALSE, sizeof(double));
	double low = 0, high = 10, sum = 0, weights = 0;

	for (guint i = 0; i < controls->len; i++)
		g_array_append_val(ratios, g_array_index(controls, LodeUnchangedFunction, i).ratio);
	double middle = median_of(ratios);
	for (int i = 0; i < 60; i++) {
		double scatter = (low + high) / 2;
		if (median_square(controls, middle, scatter) > MEDIAN_SQUARE)
			low = scatter;
		else
			high = scatter;
	}
	for (guint i = 0; i < controls->len; i++) {
		const LodeUnchangedFunction *one = &g_array_index(
			controls, LodeUnchangedFunction, i);
		double variance = one->variance + high * high;
		if (fabs(one->ratio - middle) > OUTLIER * sqrt(variance))
			continue;
		sum += one->ratio / variance;
		weights += 1 / variance;
	}
	*out = (LodeSpeed){exp(sum / weights), 1 / sqrt(weights), high, controls->len};
}
