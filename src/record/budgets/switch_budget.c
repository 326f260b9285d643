/* SPDX-License-Identifier: MIT */
#include "record/budgets/budgets.h"

/* With less, it would stop again at once. */
enum { ALLOWANCE_TO_GO_ON = LODE_SWITCHES_PER_SECOND / 4 };

/* The rate of switches is estimated over at least this time of recording. */
enum { ESTIMATE_US = 10 * 1000 };

void lode_switch_budget_init(LodeSwitchBudget *self, gint64 now_us)
{
	*self = (LodeSwitchBudget){.allowance = LODE_SWITCHES_AT_ONCE, .since_us = now_us};
}

static void estimate(LodeSwitchBudget *self, uint64_t n_records, gint64 passed_us)
{
	double dense = self->are_dense ? LODE_SWITCHES_DENSE / 2.0 : LODE_SWITCHES_DENSE;

	self->n += n_records;
	self->n_us += passed_us;
	if (self->n_us < ESTIMATE_US)
		return;
	self->rate = (double)self->n * 1e6 / (double)self->n_us;
	self->are_dense = self->rate > dense;
	self->n = 0;
	self->n_us = 0;
}

void lode_switch_budget_charge(LodeSwitchBudget *self, double n_records)
{
	self->allowance -= n_records;
}

bool lode_switch_budget_take(LodeSwitchBudget *self, uint64_t n_records, gint64 now_us)
{
	gint64 passed_us = MAX(now_us - self->since_us, 0);
	double seconds = (double)passed_us / 1e6;

	if (!self->is_over)
		estimate(self, n_records, passed_us);
	self->since_us = now_us;
	self->allowance = MIN(self->allowance + LODE_SWITCHES_PER_SECOND * seconds,
				  LODE_SWITCHES_AT_ONCE) -
	                  (double)n_records;
	if (self->allowance < 0)
		self->is_over = true;
	else if (self->allowance >= ALLOWANCE_TO_GO_ON)
		self->is_over = false;
	return !self->is_over;
}
