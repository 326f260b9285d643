/* SPDX-License-Identifier: MIT */
#include "record/budgets/budgets.h"

#include <glib.h>

/* Until one is measured. */
static const double FIRST_SAMPLE_NS = 80e3;

/* The share of the program's time for its samples, and the least, however much other stops take. */
static const double SHARE = 0.035, LEAST_SHARE = 0.008;

/* The share of a processor for looks and samples of all threads together. */
static const double BUSY_SHARE = 0.3;

/* The first part of the run, and the cost that is allowed in it. */
static const double FIRST_NS = 500e6, FIRST_COST_NS = 40e6;

static const double SHORTEST_NS = 500e3, LONGEST_NS = 50e6;
static const double SMOOTHING = 1.0 / 16;
static const double SHARE_NS = 250e6; /* over which the share of other stops is taken */

/* A thread that waits for less than this many looks in a row may run at any of them. */
enum { WAITING_FROM = 8, LOOKS_AT_WAITING = 24 };

void lode_stop_budget_init(LodeStopBudget *self, uint64_t frequency, uint64_t now_ns)
{
	*self = (LodeStopBudget){
		.sample_ns = FIRST_SAMPLE_NS,
		.begin_ns = now_ns,
		.share_since_ns = now_ns,
		.least_ns = frequency > 0 ? 1e9 / (double)frequency : 0,
	};
}

static void smooth(double *value, double next)
{
	*value += (next - *value) * SMOOTHING;
}

void lode_stop_budget_add_sample(LodeStopBudget *self, uint64_t cost_ns)
{
	self->spent_ns += (double)cost_ns;
	/* One that was held up by something else says little of the next. */
	smooth(&self->sample_ns, MIN((double)cost_ns, 8 * self->sample_ns));
}

void lode_stop_budget_add_round(LodeStopBudget *self, uint64_t cost_ns)
{
	smooth(&self->round_ns, (double)cost_ns);
}

void lode_stop_budget_add_other(LodeStopBudget *self, uint64_t cost_ns, uint64_t now_ns)
{
	double passed_ns = (double)(now_ns - self->share_since_ns);

	self->spent_ns += (double)cost_ns;
	self->other_ns += (double)cost_ns;
	if (passed_ns < SHARE_NS)
		return;
	self->other_share = self->other_ns / passed_ns;
	self->other_ns = 0;
	self->share_since_ns = now_ns;
}

/* Where none came for some time, nothing is taken off any more. */
static double other_share(const LodeStopBudget *self, uint64_t now_ns)
{
	double passed_ns = (double)(now_ns - self->share_since_ns);

	return passed_ns > 2 * SHARE_NS ? self->other_ns / passed_ns : self->other_share;
}

double lode_stop_budget_interval_ns(const LodeStopBudget *self, uint64_t now_ns)
{
	double share = MAX(SHARE - other_share(self, now_ns), LEAST_SHARE);
	double interval_ns = self->sample_ns / share;

	if ((double)(now_ns - self->begin_ns) < FIRST_NS && self->least_ns <= 0)
		interval_ns = self->sample_ns * FIRST_NS / FIRST_COST_NS;
	interval_ns = MAX(interval_ns, self->round_ns / BUSY_SHARE);
	return MAX(CLAMP(interval_ns, SHORTEST_NS, LONGEST_NS), self->least_ns);
}

bool lode_stop_budget_is_waiting(unsigned n_waited)
{
	return n_waited >= WAITING_FROM;
}

double lode_stop_budget_chance(unsigned n_waited, unsigned n_waiting)
{
	if (!lode_stop_budget_is_waiting(n_waited) || n_waiting <= LOOKS_AT_WAITING)
		return 1;
	return (double)LOOKS_AT_WAITING / n_waiting;
}
