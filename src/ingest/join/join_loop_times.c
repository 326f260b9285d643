/* SPDX-License-Identifier: MIT */
#include "ingest/join/join.h"
#include "model/observed/loops.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* The time that samples may have taken where it is not known. */
static const double UNKNOWN_SHARE = 0.1;

static bool is_time(const LodeProfile *profile)
{
	return profile->code.weight_event != LODE_NONE &&
	       strstr(lode_profile_event(profile, profile->code.weight_event)->name, "-clock") !=
	               NULL;
}

void lode_join_counted_times(LodeProfile *profile, const LodeRecording *recording)
{
	double error = recording->sampling_share > 0 ? recording->sampling_error : UNKNOWN_SHARE;

	if (profile->run.frequency != LODE_FREQUENCY_EXACT || profile->run.n_samples <= 0 ||
		!is_time(profile))
		return;
	double of_sample = lode_profile_event(profile, profile->code.weight_event)->total /
	                   profile->run.n_samples;
	for (guint i = 0; i < profile->loops->len; i++) {
		LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		if (loop->iteration_ns >= 0 || loop->calls > 0 || loop->weight <= 0 ||
			loop->iterations <= 0)
			continue;
		loop->iteration_ns = loop->weight * (1 - recording->sampling_share) /
		                     loop->iterations;
		/* So many samples are off by their root. */
		loop->iteration_error_ns = loop->iteration_ns *
		                           hypot(error, sqrt(of_sample / loop->weight));
		loop->iteration_source = lode_profile_intern(profile, "counted");
	}
}
