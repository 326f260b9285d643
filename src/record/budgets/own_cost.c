/* SPDX-License-Identifier: MIT */
#include "record/budgets/budgets.h"

#include "base/text/number_format.h"

#include <glib.h>

static const double SHARE = 0.05, SHORT_NS = 60e6;

/* The cost is an estimate: it is reported when it exceeds the budget by this factor. */
static const double MARGIN = 1.25;

static const char *const purposes[LODE_N_COSTS] = {
	[LODE_COST_SAMPLES] = "samples",
	[LODE_COST_RECORDS] = "records of switches and mappings",
	[LODE_COST_SWITCHES] = "switches of threads that it samples",
	[LODE_COST_TASKS] = "threads and processes that start",
	[LODE_COST_PROBES] = "probes",
	[LODE_COST_STOPS] = "stops",
};

static double sum(const LodeOwnCost *self)
{
	double ns = 0;

	for (unsigned i = 0; i < LODE_N_COSTS; i++)
		ns += self->ns[i];
	return ns;
}

static double budget_ns(double program_ns)
{
	return MAX(SHARE * program_ns, SHORT_NS);
}

bool lode_own_cost_is_over(const LodeOwnCost *self, double program_ns)
{
	return sum(self) > budget_ns(program_ns);
}

char *lode_own_cost_text(const LodeOwnCost *self, double program_ns)
{
	char share[LODE_NUMBER_SIZE], part[LODE_NUMBER_SIZE];
	unsigned most = 0;

	if (!(program_ns > 0) || sum(self) <= MARGIN * budget_ns(program_ns))
		return NULL;
	for (unsigned i = 1; i < LODE_N_COSTS; i++)
		most = self->ns[i] > self->ns[most] ? i : most;
	lode_number_format_share(MIN(sum(self) / program_ns, 1), share);
	lode_number_format_share(MIN(self->ns[most] / program_ns, 1), part);
	return g_strdup_printf(
		"lode took some %s of the program's time, %s for %s", share, part, purposes[most]);
}
