/* SPDX-License-Identifier: MIT */
#include "record/perf/switch_budget.h"

/* With less, it would stop again at once. */
enum { ALLOWANCE_TO_GO_ON = LODE_SWITCHES_PER_SECOND / 4 };

void lode_switch_budget_init(LodeSwitchBudget *self, gint64 now_us)
{
	*self = (LodeSwitchBudget){.allowance = LODE_SWITCHES_AT_ONCE, .since_us = now_us};
}

bool lode_switch_budget_take(LodeSwitchBudget *self, uint64_t n_records, gint64 now_us)
{
	double seconds = (double)MAX(now_us - self->since_us, 0) / 1e6;

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
