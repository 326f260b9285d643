/* SPDX-License-Identifier: MIT */
/* Programs, processes or threads by what they cost, and when each ran. */
#pragma once

#include "analyses/parts/program_shares.h"
#include "views/form/format.h"

typedef struct {
	LodeProgramsBy by;
	uint64_t limit; /* rows; 0: all */
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeProgramListOptions;

/* The profile has stacks with samples. Errors: _IO. */
bool lode_program_list_write(const LodeProfile *profile, const LodeProgramListOptions *options,
	FILE *out, GError **error);

/*
 * JSON: for each thread its share of the weight in `n_bins` equal stretches of time, the heaviest
 * threads first, at most LODE_TIMELINE_MAX_THREADS of them, and how many are left out; when the
 * first sample of each was taken; and, where a clock weighs, how many processors were busy in each
 * stretch. Samples without a time are in no stretch. Errors: _IO.
 */
enum { LODE_TIMELINE_MAX_THREADS = 64, LODE_TIMELINE_MAX_BINS = 10000 };
bool lode_timeline_write(const LodeProfile *profile, uint32_t n_bins, FILE *out, GError **error);
