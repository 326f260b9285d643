/* SPDX-License-Identifier: MIT */
#include "record/budgets/task_budget.h"

/* Of the program's time, for an event at the start and the end of a thread. Measured in a virtual
 * machine; it is less on hardware. */
static const double EVENT_NS = 10e3;

static const double BUDGET = 0.02;

enum { LOOK_US = G_USEC_PER_SEC / 10 };

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us)
{
	*self = (LodeTaskBudget){.since_us = now_us};
}

bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us)
{
	gint64 passed_us = now_us - self->since_us;

	if (passed_us < LOOK_US)
		return false;
	self->rate = (double)(n_tasks - MIN(self->n, n_tasks)) * G_USEC_PER_SEC / (double)passed_us;
	self->n = n_tasks;
	self->since_us = now_us;
	return self->rate * (double)n_descriptors * EVENT_NS > BUDGET * 1e9;
}
