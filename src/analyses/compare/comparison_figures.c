/* SPDX-License-Identifier: MIT */
#include "analyses/compare/comparison_figures.h"

#include "machine/machine_figures.h"

#include <math.h>

/* The deviations that a single comparison may reach by chance. */
#define ONE_ALONE 2.0
#define SLOWER_DEVIATIONS 3.0

/* How far a program's time may differ from what the calibrations say, where nothing else ran; by
 * how much other programs may slow it down, on all processors; and what is unknown without any
 * calibration: standard errors of the logarithm, as equal pairs have shown
 * (docs/reference/comparison.md).
 */
#define SPEED_FLOOR 0.02
#define OTHERS_EFFECT 0.3
/* By so much does a program's time differ from run to run while others keep all processors busy:
 * with caches and a core that are shared, it depends on what they do. Measured on 11 pairs of equal
 * runs, others_share 0.9, where the logarithms of the ratios have a standard deviation of 0.065. */
#define BUSY_EFFECT 0.07
#define UNKNOWN_SPEED 0.085

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

static LodeEstimate times(LodeEstimate estimate, double factor)
{
	return (LodeEstimate){factor * estimate.value, factor * estimate.error};
}

bool lode_speed_is_exceeded(
	const LodeSpeed *speed, LodeEstimate before, LodeEstimate after, double deviations)
{
	LodeEstimate beside = lode_estimate_difference(times(before, speed->factor), after);
	double scale = fmax(before.value, after.value);
	double unknown = ONE_ALONE * speed->error * speed->factor * before.value;

	/* The speed explains nothing of code that takes no time any more. */
	if (!(after.value > 0))
		unknown = 0;
	return lode_estimate_exceeds(lode_estimate_difference(before, after), scale, deviations) &&
	       lode_estimate_exceeds(beside, scale, deviations) &&
	       fabs(beside.value) > hypot(deviations * beside.error, unknown);
}

bool lode_compared_row_is_slower(
	const LodeComparison *comparison, const LodeComparedRow *row, double share)
{
	LodeEstimate before = row->sides[0].time, after = row->sides[1].time;
	LodeEstimate allowed = times(before, 1 + share);
	double deviations = fmax(SLOWER_DEVIATIONS, comparison->kinds[row->kind].deviations);
	bool is_kind = row->kind == LODE_COMPARED_PATTERN || row->kind == LODE_COMPARED_PLACE ||
	               row->kind == LODE_COMPARED_FUNCTION;

	return is_kind && row->is_told &&
	       after.value > allowed.value * fmax(comparison->speed.factor, 1) &&
	       lode_speed_is_exceeded(&comparison->speed, allowed, after, deviations);
}

/* A quantity in both machines: the logarithm of its ratio, and that one's square error. */
typedef struct {
	double ratio, variance;
} Ratio;

static Ratio compare_medians(double base, double base_scatter, double other, double other_scatter,
	const LodeMachineSpeed *const machines[2])
{
	const double error_of_median = 1.2533;
	double of_base = error_of_median * base_scatter, of_other = error_of_median * other_scatter;

	return (Ratio){log(other / base),
		of_base * of_base / machines[0]->runs + of_other * of_other / machines[1]->runs};
}

/*
 * The chain and the walk agree where the clock alone differs; how far they do not says how far a
 * program may be from both. A processor that others used more, here or on the hypervisor's side,
 * has its caches and memory for them, too, which neither sees.
 */
void lode_speed_find(const LodeMachineSpeed *const machines[2], bool is_sampled, LodeSpeed *out)
{
	const LodeMachineSpeed *base = machines[0], *other = machines[1];

	*out = (LodeSpeed){.factor = 1, .error = is_sampled ? UNKNOWN_SPEED : 0};
	for (int side = 0; side < 2; side++) {
		bool is_known = machines[side]->runs > 0;
		out->steal[side] = is_known ? machines[side]->steal : (double)NAN;
		out->others[side] = is_known ? machines[side]->others : (double)NAN;
	}
	if (!is_sampled || !(base->runs > 0) || !(other->runs > 0))
		return;
	Ratio chain = compare_medians(base->chain_ns, base->chain_scatter, other->chain_ns,
		other->chain_scatter, machines);
	Ratio walk = compare_medians(
		base->walk_ns, base->walk_scatter, other->walk_ns, other->walk_scatter, machines);
	/* Each counts by its precision: few runs, of which some were disturbed, say little. */
	double of_chain = 1 / (chain.variance + SPEED_FLOOR * SPEED_FLOOR);
	double of_walk = 1 / (walk.variance + SPEED_FLOOR * SPEED_FLOOR);
	double share = of_chain / (of_chain + of_walk);
	double middle = share * chain.ratio + (1 - share) * walk.ratio;
	double variance = share * share * chain.variance +
	                  (1 - share) * (1 - share) * walk.variance;
	double apart = sqrt(share * (1 - share)) * (chain.ratio - walk.ratio);
	double steal = other->steal - base->steal;
	double others = OTHERS_EFFECT * (other->others - base->others);
	double busy = BUSY_EFFECT * fmax(other->others, base->others);
	double error = sqrt(SPEED_FLOOR * SPEED_FLOOR + variance + apart * apart + steal * steal +
			    others * others + busy * busy);
	if (!isfinite(middle) || !isfinite(error))
		return;
	out->factor = exp(middle);
	out->error = error;
	out->is_measured = true;
	out->is_different = fabs(middle) > ONE_ALONE * error;
	/* A factor that may be none is not taken out. */
	if (!out->is_different)
		out->factor = 1;
}
