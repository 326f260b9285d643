/* SPDX-License-Identifier: MIT */
#include "record/budgets/budgets.h"

/* The additional cost of a context switch while a timer samples the threads. Measured in a virtual
 * machine, where each setting of the timer traps to the host; it is less on hardware. */
static const double SWITCH_NS = 9e3;

static const double SLICE_US = 4000, LEAST_PART = 0.01;

static double part_of(const LodeSliceCosts *costs, double switches)
{
	double second = (switches * SWITCH_NS + (double)costs->frequency * costs->sample_ns) / 1e9;

	return CLAMP(costs->budget / MAX(second, 1e-3), LEAST_PART, 1);
}

void lode_sample_slices_init(LodeSampleSlices *self, gint64 now_us)
{
	*self = (LodeSampleSlices){.part = 1, .since_us = now_us};
}

static void turn(LodeSampleSlices *self, bool is_on)
{
	self->is_on = is_on;
	self->turn_us = SLICE_US / 2 * g_random_double_range(0.5, 1.5);
}

bool lode_sample_slices_update(
	LodeSampleSlices *self, const LodeSliceCosts *costs, double switches, gint64 now_us)
{
	double passed_us = (double)MAX(now_us - self->since_us, 0);

	if (self->part >= 1)
		self->part = part_of(costs, switches);
	self->owed_us += passed_us * (self->part - self->is_on);
	self->passed_us += passed_us;
	self->sliced_us += self->is_on ? passed_us : 0;
	self->switches_ns += self->is_on ? passed_us * switches * SWITCH_NS / 1e6 : 0;
	self->since_us = now_us;
	if (self->turn_us <= 0)
		turn(self, false);
	if (self->is_on && self->owed_us <= -self->turn_us) {
		turn(self, false);
		self->part = part_of(costs, switches);
	} else if (!self->is_on && self->owed_us >= self->turn_us) {
		turn(self, true);
	}
	return self->is_on;
}

void lode_sample_slices_skip(LodeSampleSlices *self, gint64 now_us)
{
	self->since_us = now_us;
}

gint64 lode_sample_slices_due_us(const LodeSampleSlices *self)
{
	double rate = self->is_on ? 1 - self->part : self->part;
	double left_us = self->turn_us + (self->is_on ? self->owed_us : -self->owed_us);

	return self->since_us + (gint64)(MAX(left_us, 0) / MAX(rate, LEAST_PART));
}
