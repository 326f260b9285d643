/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/processor_time.h"

#include <glib.h>
#include <math.h>

static const double TICKS_PER_SECOND = 250;

/* With one more on either side, so that a share of 0 has an error, too. */
static double variance(double share, double n)
{
	double p = (share * n + 1) / (n + 2);

	return p * (1 - p) / (n + 2);
}

void lode_processor_time_divide(LodeProcessorTime *self, const LodeTimerSamples *samples)
{
	double all = self->user_seconds + self->system_seconds;

	self->system_error = 0;
	if (!(all > 0))
		return;
	double share = self->system_seconds / all, windows = samples->windows_seconds / all;
	double error = hypot(sqrt(variance(share, TICKS_PER_SECOND * all)), windows);
	double period = samples->period_ns / 1e9, sampled = samples->user_ns + samples->kernel_ns;
	if (period > 0 && sampled > 0) {
		/* On average, half of a period is not seen of each thread. */
		double unseen = samples->n_threads * period / 2;
		double user = samples->user_ns / 1e9 + unseen;
		double by_samples = samples->has_kernel ? samples->kernel_ns / sampled
		                                        : 1 - CLAMP(user / all, 0, 1);
		double others = samples->has_kernel ? 0 : hypot(samples->steal, unseen / all);
		double its_error = hypot(sqrt(variance(by_samples, all / period)), others);
		if (its_error < error) {
			share = by_samples;
			error = its_error;
		}
	}
	self->system_seconds = share * all;
	self->user_seconds = all - self->system_seconds;
	self->system_error = error * all;
}
