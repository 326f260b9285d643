/* SPDX-License-Identifier: MIT */
/* Programs, processes or threads by what they cost, and when each ran. */
#pragma once

#include "analyses/parts/program_shares.h"
#include "base/text/json_stream.h"
#include "views/form/format.h"

typedef struct {
	LodeProgramsBy by;
	uint64_t limit; /* rows; 0: all */
	LodeViewFormat format;
	LodeTerminal terminal;
} LodeProgramListOptions;

/* The member "event": that whose samples are counted; null: there are none. */
void lode_program_list_put_event(LodeJsonStream *json, const LodeProfile *profile);

/* The profile has stacks with samples. Errors: _IO. */
bool lode_program_list_write(const LodeProfile *profile, const LodeProgramListOptions *options,
	FILE *out, GError **error);

/*
 * JSON: for each thread its share of the weight in `n_bins` equal stretches of time, the heaviest
 * threads first, at most LODE_TIMELINE_MAX_THREADS of them, and how many are left out; when each
 * began, or its first sample was taken; of several processes, the command of each; and, where a
 * clock weighs, how many processors were busy in each stretch. Samples without a time are in no
 * stretch. Where it is known what threads did (LodeWaitSlice), each has "slices": [begin, length,
 * number among "kinds", group of waits or −1, time of it, of that on the critical path], in µs;
 * threads without samples, too. The groups are in the order of lode_wait_list_write(). Errors: _IO.
 */
enum { LODE_TIMELINE_MAX_THREADS = 64, LODE_TIMELINE_MAX_BINS = 10000 };
bool lode_timeline_write(const LodeProfile *profile, uint32_t n_bins, FILE *out, GError **error);
