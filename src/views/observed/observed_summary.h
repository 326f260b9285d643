/* SPDX-License-Identifier: MIT */
/* Sums of the windows of a run, for people and programs. */
#pragma once

#include "base/text/json_stream.h"

typedef struct LodeProfile LodeProfile;

/* Whether the profile's executions are inferred with the help of windows or breakpoints. */
bool lode_is_observed(const LodeProfile *profile);

/* "1,240 windows, 3,120 breakpoint hits"; "" where there were none. The caller frees it. */
char *lode_observed_windows_text(const LodeProfile *profile);

/* The command that would observe more, and what, where the program ran long enough for it and few
 * steps were taken; NULL elsewhere. */
const char *lode_observed_hint(const LodeProfile *profile);

/* The share of windows in the program's processor time. NAN: not known. */
double lode_observed_time_share(const LodeProfile *profile);

/* The share of the samples in windows, which are left out, in the weight of all. */
double lode_observed_dropped_share(const LodeProfile *profile);

/* Conditional branches that windows observed (LODE_OBSERVED_STEPS), and the share of the weight in
 * functions that have one. */
typedef struct {
	uint32_t n_branches;
	double weight_share;
} LodeObservedBranches;

LodeObservedBranches lode_observed_branches(const LodeProfile *profile);

/* Processes of one name that have one obstacle or none. */
typedef struct {
	const char *name;     /* borrowed; NULL: unknown */
	const char *obstacle; /* likewise; NULL: none */
	uint32_t pid;         /* of the first */
	uint32_t n;
	uint64_t n_windows, n_steps;
} LodeSteppedProgram;

/* Those with the most windows first, the first `most` and the rest as one, "others". The caller
 * unrefs the array. */
GArray *lode_observed_programs(const LodeProfile *profile, guint most);

/* "4,321 steps", "4,321 steps, then none: blocks SIGTRAP", "no windows: blocks SIGTRAP". The caller
 * frees it. */
char *lode_observed_process_text(uint64_t n_steps, const char *obstacle);

/* "windows": numbers, times, branches, processes. The profile has windows. */
void lode_observed_json(LodeJsonStream *json, const LodeProfile *profile);
