/* SPDX-License-Identifier: MIT */
/* The options that choose samples, for verbs that look at data addresses. */
#pragma once

#include "analyses/memory/sample_filter.h"
#include "cli/verb.h"

/* For a row of LodeVerb.groups, "Which samples". */
extern const GOptionEntry lode_memory_filter_options[];

/* What was given; strings are borrowed from the options. */
void lode_memory_filter_options_read(LodeSampleFilterOptions *out_options);
