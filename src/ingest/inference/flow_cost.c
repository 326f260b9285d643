/* SPDX-License-Identifier: MIT */
/*
 * What flow that is not as measured costs. A count costs the same for each unit. Samples have a
 * heavy tail (few instructions hold most of a loop's, the others none), so that they speak in
 * logarithms, and the farther the flow is away the more the next unit costs; that curve in steps,
 * each as far as all before it:
 *
 *   flow     0 ─── m/2¹⁶ ─── m/2⁸ ── m/2⁴ ─ m/2² ─ m/2 ─ m ─ 2m ─ 2²m ── 2⁴m ─── 2⁸m ─── ∞
 *   step          5        4       3      2      1     0   0    1     2      3     beyond
 */
#include "ingest/inference/flow_network.h"

#include <math.h>

enum {
	COST_PER_INSTRUCTION = 1024,
	MAX_COST_RATIO = 256, /* of the last unit of a hot block to that of a cold one */
	N_STEPS_MORE = 4,     /* before the last, which has no end */
	N_STEPS_LESS = 6,
};

/* Powers of two: where step i ends, and the middle of it. */
static const double step_ends[] = {1, 2, 4, 8, 16, INFINITY};
static const double step_middles[] = {0.5, 1.5, 3, 6, 12, 24};

static void add_step(LodeFlowStep *steps, uint32_t *n, int64_t capacity, double cost)
{
	if (capacity > 0)
		steps[(*n)++] = (LodeFlowStep){capacity, (int64_t)round(cost)};
}

double lode_flow_sample_vote(double samples)
{
	return log1p(samples);
}

double lode_flow_voted_samples(double vote)
{
	return expm1(vote);
}

/* How much more or less the samples of a block speak than they would for a flow of `flow`. */
static double vote_ratio(const LodeFlowNetwork *self, const LodeFlowArc *arc, double flow)
{
	return lode_flow_sample_vote((double)arc->count / self->sample) /
	       lode_flow_sample_vote(flow / self->sample);
}

static uint32_t add_more(const LodeFlowNetwork *self, const LodeFlowArc *arc, LodeFlowStep *steps)
{
	double measured = (double)arc->count;
	double weight = (double)(COST_PER_INSTRUCTION * arc->weight);
	int64_t at = arc->count;
	uint32_t n = 0;

	for (unsigned i = 0; i < N_STEPS_MORE && at > 0; i++) {
		double middle = measured * exp2(step_middles[i]);
		int64_t next = (int64_t)fmin(
			round(measured * exp2(step_ends[i])), (double)LODE_FLOW_LIMIT);
		add_step(steps, &n, next - at, weight * (1 - vote_ratio(self, arc, middle)));
		at = next;
	}
	add_step(steps, &n, LODE_FLOW_LIMIT, weight);
	return n;
}

static uint32_t add_less(const LodeFlowNetwork *self, const LodeFlowArc *arc, LodeFlowStep *steps)
{
	double measured = (double)arc->count;
	double weight = (double)(COST_PER_INSTRUCTION * arc->weight);
	int64_t at = arc->count;
	uint32_t n = 0;

	for (unsigned i = 0; i < N_STEPS_LESS && at > 0; i++) {
		double middle = measured * exp2(-step_middles[i]);
		int64_t next = (int64_t)round(measured * exp2(-step_ends[i]));
		double ratio = fmin(vote_ratio(self, arc, middle) - 1, MAX_COST_RATIO);
		add_step(steps, &n, at - next, weight * ratio);
		at = next;
	}
	return n;
}

uint32_t lode_flow_network_steps(
	const LodeFlowNetwork *self, const LodeFlowArc *arc, bool is_more, LodeFlowStep *out_steps)
{
	uint32_t n = 0;

	if (arc->weight > 0)
		return is_more ? add_more(self, arc, out_steps) : add_less(self, arc, out_steps);
	if (is_more)
		add_step(out_steps, &n, LODE_FLOW_LIMIT, (double)arc->increase);
	else
		add_step(out_steps, &n, arc->count, (double)arc->decrease);
	return n;
}
