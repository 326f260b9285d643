/* SPDX-License-Identifier: MIT */
#include "model/run/program_run.h"

#include "model/profile.h"

#include <math.h>

const LodeProgramRun *lode_program_run_of(const LodeProfile *profile)
{
	return &profile->run;
}

double lode_profile_equal_samples(const LodeProfile *self)
{
	return self->run.n_equal_samples > 0 ? MIN(self->run.n_equal_samples, self->run.n_samples)
	                                     : self->run.n_samples;
}

double lode_profile_system_error(const LodeProfile *self)
{
	static const double tick_seconds = 0.004;
	double all = self->run.user_seconds + self->run.system_seconds;

	if (self->run.system_error > 0 || !(all > 0))
		return self->run.system_error;
	return sqrt(self->run.user_seconds * self->run.system_seconds / all * tick_seconds);
}
