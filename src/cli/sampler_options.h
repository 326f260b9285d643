/* SPDX-License-Identifier: MIT */
/* Private to cli/: the options of `lode record`. */
#pragma once

#include "record/perf_sampler.h"

#include <glib.h>

/* For LodeVerb.options. */
extern const GOptionEntry lode_sampler_options[];

/* What the options say; strings are borrowed from them. */
typedef struct {
	LodePerfSamplerOptions sampler; /* but for command, is_refused and observer */
	const char *program;            /* what is sampled, for the page */
	bool serves;
} LodeSamplerOptions;

/* To be called once they are parsed; `arguments` is what is to be run. Errors: _USAGE, also for
 * options that do not go together. */
bool lode_sampler_options_read(char **arguments, LodeSamplerOptions *out_options, GError **error);
