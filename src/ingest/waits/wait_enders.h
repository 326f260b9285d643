/* SPDX-License-Identifier: MIT */
/*
 * Which thread ended each wait: one sweep over all intervals in the order of time, which knows at
 * each moment who runs, who ran last, and who had which lock last. Private to ingest/.
 */
#pragma once

#include "ingest/waits/critical_path.h"

/* Who ended a wait. */
typedef struct {
	uint64_t
		at_ns; /* where the path goes on in the ender: the end of what it ran last before */
	uint32_t ender;         /* a thread; LODE_NONE: by rule 7 */
	uint32_t delay_ns : 28; /* after that, with a processor free: waking up; cut to 0.26 s */
	uint32_t rule : 4;
} LodeWaitEnder;

/* A wait for a lock. */
typedef struct {
	uint64_t ready_ns; /* since when all processors were busy, at its end; that itself: one was
	                      free */
	uint32_t interval, thread;
} LodeLockWait;

struct LodeWaitEnders {
	LodeWaitEnder *enders; /* of each interval; only those of waits have a meaning */
	GArray *lock_waits;    /* LodeLockWait, in the order of their ends */
	double *running_ns;    /* of each thread */
	double busy_ns;        /* all processors ran threads */
};

/* A wait for a disk, the clock, a processor: no other thread ends it. */
bool lode_wait_ends_alone(const LodePathInterval *wait);

LodeWaitEnders *lode_wait_enders_new(const LodePathInput *input);
void lode_wait_enders_free(LodeWaitEnders *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWaitEnders, lode_wait_enders_free)
