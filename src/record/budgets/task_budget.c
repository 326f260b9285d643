/* SPDX-License-Identifier: MIT */
#include "record/budgets/budgets.h"

/* The share of the time that grows to the allowance, and its maximum, which is enough for a
 * run-time environment that starts 200 threads on 50 processors. */
static const double BUDGET = 0.02, AT_ONCE_NS = 300e6;

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us)
{
	*self = (LodeTaskBudget){.left_ns = AT_ONCE_NS, .begin_us = now_us, .since_us = now_us};
}

bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us)
{
	double passed_us = (double)MAX(now_us - self->since_us, 0);
	double started = (double)(n_tasks - MIN(self->n, n_tasks));

	self->left_ns = MIN(self->left_ns + BUDGET * passed_us * 1e3, AT_ONCE_NS) -
	                started * (double)n_descriptors * LODE_TASK_EVENT_NS;
	self->n = n_tasks;
	self->since_us = now_us;
	self->rate = (double)n_tasks * G_USEC_PER_SEC / (double)MAX(now_us - self->begin_us, 1);
	return self->left_ns < 0;
}
