/* SPDX-License-Identifier: MIT */
/* From values to places on a sheet. */
#include "views/plot/plot_scale.h"

#include <float.h>
#include <math.h>

LodePlotScale lode_plot_scale(double low, double high, bool is_log)
{
	if (is_log && !(low > 0))
		low = high > 0 ? high / 10 : 1;
	if (!(high > low))
		high = is_log ? low * 10 : low + MAX(fabs(low) * 1e-6, 1);
	return (LodePlotScale){.low = low, .high = high, .to = 1, .is_log = is_log};
}

double lode_plot_scale_fraction(const LodePlotScale *self, double value)
{
	if (!self->is_log)
		return (value - self->low) / (self->high - self->low);
	return log(MAX(value, DBL_MIN) / self->low) / log(self->high / self->low);
}

double lode_plot_scale_at(const LodePlotScale *self, double value)
{
	return self->from + lode_plot_scale_fraction(self, value) * (self->to - self->from);
}

static size_t put_powers(
	const LodePlotScale *self, unsigned wanted, double ticks[LODE_PLOT_MAX_TICKS])
{
	const double base = self->is_binary ? 2 : 10, unit = log(base);
	double first = ceil(log(self->low) / unit - 1e-9);
	double last = floor(log(self->high) / unit + 1e-9);
	double step = MAX(1, ceil((last - first + 1) / MAX(wanted, 1)));
	size_t n = 0;

	for (double at = first; at <= last && n < LODE_PLOT_MAX_TICKS; at += step)
		ticks[n++] = pow(base, at);
	return n;
}

/* The smallest of 1, 2, 5 times a power of ten that is not below. */
static double round_up(double value)
{
	double power = pow(10, floor(log10(value)));
	double factor = value / power;

	if (factor <= 1 + 1e-9)
		return power;
	if (factor <= 2 + 1e-9)
		return 2 * power;
	return factor <= 5 + 1e-9 ? 5 * power : 10 * power;
}

size_t lode_plot_scale_ticks(
	const LodePlotScale *self, unsigned wanted, double ticks[LODE_PLOT_MAX_TICKS])
{
	if (self->is_log)
		return put_powers(self, wanted, ticks);
	double step = round_up((self->high - self->low) / MAX(wanted, 1));
	double first = ceil(self->low / step - 1e-9), last = floor(self->high / step + 1e-9);
	size_t n = 0;

	for (double at = first; at <= last && n < LODE_PLOT_MAX_TICKS; at++)
		ticks[n++] = (at + 0.0) * step; /* no negative zero */
	return n;
}
