/* SPDX-License-Identifier: MIT */
/*
 * Looks at threads that wait become rows of LodeWaits:
 *
 *   look ─▶ reason, object, call ─┐
 *        ─▶ place, with callers  ─┼─▶ row ─▶ + waiting, number, longest
 *        ─▶ holder's place       ─┘
 *   timer's samples of a thread ─▶ where it ran, and waited for a processor
 *
 * The stack of a thread is in the recording where it was first seen at a place; later looks there
 * have the callers that were found then. Private to ingest/.
 */
#pragma once

#include "ingest/sampled/sampled_stacks.h"
#include "ingest/sampled/waits/thread_waits.h"
#include "model/waits.h"
#include "sources/perf_data/wait_look.h"

typedef struct LodeProcessCommands LodeProcessCommands;
typedef struct LodeSampledThreads LodeSampledThreads;
typedef struct LodeSampledWaits LodeSampledWaits;
typedef struct LodeStacks LodeStacks;

/* Borrows all. */
LodeSampledWaits *lode_sampled_waits_new(
	LodePlaces *places, LodeThreads *threads, LodeSampledStacks *stacks);
void lode_sampled_waits_free(LodeSampledWaits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledWaits, lode_sampled_waits_free)

/* Begins a recording that has looks. */
void lode_sampled_waits_begin(
	LodeSampledWaits *self, LodeSampledThreads *threads, uint32_t n_processors);

/*
 * Adds a look whose raw data is `read`, at a thread in whose rows the sample's place is `row`, or
 * of the holder of a lock. Where `known` is NULL, or stands for nothing, only its place is kept.
 * Returns where it is, for lode_sampled_stacks_add_at(); LODE_NONE: not known.
 */
uint32_t lode_sampled_waits_add(LodeSampledWaits *self, const LodeSampledAccess *sample,
	const LodeWaitLook *read, const LodeThreadLook *known, uint32_t row);

/* A sample of the timer, which the stacks had last, and for how long its thread waited for a
 * processor besides. */
void lode_sampled_waits_add_timed(
	LodeSampledWaits *self, const LodeSampledAccess *sample, double ready_ns);

/* Ends a recording: adds what no look and no sample stands for, and gives how much it is. */
double lode_sampled_waits_end(LodeSampledWaits *self);

/* What a thread did for a while. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t row;    /* of the waits that it is one of, once they are named; LODE_NONE: none */
	uint32_t object; /* equal for waits for the same thing; LODE_NONE: not known */
	uint32_t other;  /* of LodeThreads: who is waited for, or has the lock; LODE_NONE: not known
	                  */
	uint8_t kind;    /* LodeWaitReason; LODE_N_WAIT_REASONS: it ran */
	uint8_t end;     /* LodeThreadGapEnd: by a thread, that is `other` */
	bool is_looked_at; /* false: the reason is that of a wait like it */
	bool is_timed_out;
} LodeWaitInterval;

typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t thread;    /* of LodeThreads */
	uint32_t first, n;  /* of the intervals, in order; between them nothing is known */
	uint32_t recording; /* times of different ones cannot be compared */
} LodeWaitThread;

/* Where a thread ran, by the timer. */
typedef struct {
	uint64_t time_ns;
	uint32_t thread, where; /* for lode_sampled_stacks_stack() */
	uint32_t recording;
} LodeWaitTimed;

/* All that threads did. */
typedef struct {
	GArray *threads;   /* LodeWaitThread */
	GArray *intervals; /* LodeWaitInterval */
	GArray *timed;     /* LodeWaitTimed, by recording, thread and time */
	uint32_t n_objects;
	uint32_t n_processors;         /* that the program may use; 0: not known */
	bool is_full;                  /* some are missing: there are too many */
	LodeProcessCommands *commands; /* owned by the waits */
} LodeWaitTimes;

const LodeWaitTimes *lode_sampled_waits_times(const LodeSampledWaits *self);

/* With which words processes were started, to be noted before lode_sampled_waits_name(). */
LodeProcessCommands *lode_sampled_waits_commands(LodeSampledWaits *self);

/* The rows, once the stacks are named; NULL: no recording had looks. Strings are copied to
 * `profile`; the caller frees the rest. */
LodeWaits *lode_sampled_waits_name(LodeSampledWaits *self, LodeProfile *profile);

/*
 * Fills in the path of `waits`, whose rows the intervals of `times` name, their causes, which of
 * them wait for work, and the slices. `are_own`: whether each of the threads is a run-time's.
 * Leaves the path out where the program's end was not seen, it was not recorded as a whole, or all
 * its time went by waiting for work until it was stopped.
 */
void lode_sampled_path_find(LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads, const bool *are_own, const LodeStacks *stacks);

/* The programs alone, with names that are those of `threads`. `pieces` as below. */
void lode_program_times_find(LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads, const GArray *pieces);

/* The slices alone. `pieces` (LodePathPiece) are those of the critical path; NULL: there is none.
 */
void lode_wait_slices_find(LodeWaits *waits, const LodeWaitTimes *times, const LodeThreads *threads,
	const GArray *pieces);

/* Without a path: which waits are for work, as of a pool at its empty queue. (service_waits.c) */
void lode_service_waits_find_idle(
	LodeWaits *waits, const LodeWaitTimes *times, const LodeThreads *threads);

/* Without a path: rows of waits at conditions that were ended by a thread which mostly waited for a
 * file itself get that place as their holder's. The input is of the same threads and intervals as
 * the times. (awaited_waits.c) */
struct LodePathInput;
void lode_awaited_waits_find(
	LodeWaits *waits, const LodeWaitTimes *times, const struct LodePathInput *input);

/* Whether it is for something to read, which may never come. */
static inline bool lode_wait_may_watch(uint32_t reason)
{
	return reason == LODE_WAIT_PIPE || reason == LODE_WAIT_POLL || reason == LODE_WAIT_READ ||
	       reason == LODE_WAIT_SOCKET;
}
