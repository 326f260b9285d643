/* SPDX-License-Identifier: MIT */
/* The share of each program, process or thread in the samples of a profile. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_PROGRAMS_BY_COMMAND, /* all processes of one name */
	LODE_PROGRAMS_BY_PID,     /* a process, by its number and name */
	LODE_PROGRAMS_BY_THREAD,
} LodeProgramsBy;

typedef struct {
	const char *name;           /* of the process or thread; borrowed; NULL: unknown */
	uint32_t pid, tid;          /* of the first; by command both are of no meaning */
	uint32_t n_processes;       /* processes, or threads of one process; by thread 1 */
	double samples, weight;     /* weight as sampled */
	double share;               /* of all weight */
	uint64_t first_ns, last_ns; /* since the first sample; of samples without time 0 */
	uint32_t number;            /* where it stands among the rows */
} LodeProgramShare;

/* The event whose samples are counted: the profile's weight, as it was sampled, else the first that
 * has samples. The profile has stacks with samples. */
uint32_t lode_program_shares_event(const LodeProfile *profile);

/*
 * The rows, the heaviest first, as LodeProgramShare; of those without samples of the event there
 * are none. `out_numbers` (NULL: not wanted): the row of each of the stacks' threads, LODE_NONE
 * without samples; the caller frees it. The profile has stacks.
 */
GArray *lode_program_shares_new(
	const LodeProfile *profile, LodeProgramsBy by, uint32_t **out_numbers);
