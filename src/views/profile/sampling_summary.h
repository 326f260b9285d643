/* SPDX-License-Identifier: MIT */
/* How much was sampled of a program, for the one who recorded it. */
#pragma once

#include "record/perf/perf_sampler.h"

#include <stdio.h>

/* Each line begins with "lode VERB: ". `path` is the recording, whose size is shown; NULL: it is
 * not kept. */
void lode_sampling_summary_write(
	const LodePerfSampling *sampled, const char *verb, const char *path, FILE *out);
