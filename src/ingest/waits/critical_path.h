/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a program: from its end back to its start, the work and the waits that its
 * end waited for. Where a thread waited, the path goes on in the thread that ended the wait:
 *
 *   main     ━━━━╮ · · · · join · · · ·╭━━ exit       ━ on the path
 *   worker       ╰━━╮ · lock · ╭━━━━━━━╯              ─ not on it
 *   other    ───────╰━━━━━━━━━━╯─────────             · waits
 *
 * Who ended a wait is known (LodePathRule 1, 2) or inferred (3 to 6). A cause's saving by the clock
 * is between two ends: at most, its pieces of the path; at least, what a replay of the program
 * without it is shorter by (below).
 *
 * C.-Q. Yang, B. Miller: "Critical Path Analysis for the Execution of Parallel and Distributed
 * Programs", 1988. Time: O(intervals × log(threads)). Memory: some 25 bytes for each interval
 * beside the input, and 100 more for replays where most waits are for locks.
 */
#pragma once

#include "model/waits.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LODE_PATH_RUN = LODE_N_WAIT_REASONS, /* kind of an interval in which the thread ran */
	/* Of the flags of an interval. */
	LODE_PATH_EXACT = 1, /* `other` is the waker, as the kernel told */
	LODE_PATH_ALONE = 2, /* no thread ended it: a timeout was slept out, a disk, a network */
};

/* What a thread did for a while. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t what;   /* the place of a run, the cause of a wait; LODE_NONE: none */
	uint32_t object; /* what was waited for; LODE_NONE: not known */
	uint32_t other;  /* the thread joined, the child's last one, the writer; that which had the
	                    lock when somebody looked. LODE_NONE: not known */
	uint8_t kind;    /* LodeWaitReason, LODE_PATH_RUN */
	uint8_t flags;
} LodePathInterval;

typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t starter; /* the thread that started it; LODE_NONE: it runs from the beginning */
	uint32_t process;
	uint32_t first, n; /* its intervals: in order, not overlapping; gaps are of unknown kind */
	bool is_leader;    /* its process began with it */
} LodePathThread;

/* A thread was seen waking those that wait for an object. Sorted by object. */
typedef struct {
	uint32_t object, thread;
	double share;
} LodePathWaker;

/* A thread is known to have had a lock, from probes. No inferred holds are added for its object. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t object, thread;
} LodePathHold;

/* Objects, causes, places, processes are numbers from 0 on. The arrays are borrowed. */
typedef struct LodePathInput {
	const LodePathThread *threads;
	const LodePathInterval *intervals;
	const LodePathWaker *wakers;
	const LodePathHold *holds;
	size_t n_wakers, n_holds;
	uint32_t n_threads, n_intervals, n_objects, n_causes, n_places;
	uint32_t n_processors; /* that the program could use; at least 1 */
	uint32_t main_process;
} LodePathInput;

/* How it is known who ended a wait. */
typedef enum {
	LODE_PATH_RULE_NONE,  /* a piece that no wait led to */
	LODE_PATH_RULE_WAKER, /* 1. the kernel told */
	LODE_PATH_RULE_OTHER, /* 2. the thread joined, the child, the writer */
	LODE_PATH_RULE_LOCK,  /* 3. the last one that had the lock */
	LODE_PATH_RULE_GROUP, /* 4. the last one to arrive where others wait */
	LODE_PATH_RULE_USUAL, /* 5. the usual waker, which ran */
	LODE_PATH_RULE_ONLY,  /* 6. nobody else ran */
	LODE_PATH_RULE_SELF,  /* 7. not known, or nobody: the wait itself is on the path */
	LODE_PATH_N_RULES,
} LodePathRule;

/* A stretch of the path in one thread. A wait that the path goes through has one from when its
 * ender did it to its own end; it is empty where the thread ran on at once. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t thread;
	uint32_t interval; /* LODE_NONE: a gap */
	LodePathRule rule; /* of a wait */
} LodePathPiece;

/* A stretch of the path in which its thread could have run, and had no processor. `done_ns`: how
 * long these took until then. */
typedef struct {
	uint64_t begin_ns, end_ns;
	uint64_t done_ns;
} LodePathQueue;

typedef struct {
	double high_ns; /* of the path, reached through the cause's waits */
	double low_ns;  /* shorter in a replay without it */
	double half_ns; /* of a lock: in a replay where half of what is done under it is done after
	                   it */
	bool is_replayed; /* false: the last two are 0, as high is too small to ask */
} LodePathCause;

typedef struct LodePathReplay LodePathReplay;
typedef struct LodeWaitEnders LodeWaitEnders;

typedef struct {
	GArray *pieces; /* LodePathPiece, in the order of time; an interval has at most one */
	GArray *queued; /* LodePathQueue, in the order of time */
	LodePathCause *causes; /* n_causes */
	uint64_t begin_ns, end_ns;
	double running_ns; /* of the path: a thread ran */
	double threads;    /* that ran on average */
	double busy_ns;    /* all processors ran threads */
	double sure; /* share of the path's waits that end by another thread, by rules 1 to 4 */
	double rule_ns[LODE_PATH_N_RULES]; /* of waits on the path, by their whole lengths */
	LodePathReplay *replay;            /* NULL: not asked for */
} LodeCriticalPath;

/* NULL: the main process never ran. `n_replays`: at most so many causes, the largest, are replayed;
 * the input must live as long as the result. */
LodeCriticalPath *lode_critical_path_new(const LodePathInput *input, uint32_t n_replays);
void lode_critical_path_free(LodeCriticalPath *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCriticalPath, lode_critical_path_free)

/*
 * How long a run is part of what the program's end waited for: its piece of the path, or, where the
 * path waits for a processor, what ran meanwhile, divided by the processors. Of all runs the sum is
 * the path without its other waits. A place's saving by the clock is at most that of its runs.
 * `piece_ns` is the length of the interval's piece of the path, 0 without one.
 */
double lode_critical_path_weight(const LodeCriticalPath *self, const LodePathInput *input,
	const LodePathInterval *run, double piece_ns);

/*
 * What the program would save by the clock if runs took less: those at a place `place_scale` times
 * what they did, of each thread. Needs a replay. It is between what the replay says, the path, and
 * the processors' time while all are busy; none of them is always the largest. Less a part at the
 * low end, as locks that nobody waited for are not seen, and bind once there is less other work.
 */
void lode_critical_path_saving(const LodeCriticalPath *self, const LodePathInput *input,
	const double *place_scale, double *out_low_ns, double *out_high_ns);

/*
 * What a program would take by the clock if something in it were different: its recorded pieces are
 * run again, each thread's in their order, on as many processors as there were.
 *
 *   a run                     takes as long as it did, less where its place is made shorter
 *   a wait for a lock         the lock is given in the order of asking
 *   a wait for a thread       until that thread has come to where it ended the wait
 *   any other wait            takes as long as it did
 *   a wait for a processor    lets others run
 *
 * The change is made in all threads alike: of workers that are equal, the next one would be as
 * late. When a lock was had is known by its waits: it was the ender's until they ended. The end is
 * that of the main process's last thread, and of all that removed waits waited for.
 */

/* What is different. */
typedef struct {
	uint32_t removed; /* a cause whose waits end at once; LODE_NONE: none */
	uint32_t halved;  /* a cause whose locks are given back in the middle of each hold, before
	                     the rest of the work; LODE_NONE: none */
	const double *place_scale; /* of each place: by which its runs are multiplied; NULL: 1 */
} LodePathChange;

/* Takes `enders` (wait_enders.h). The main process's last thread is `last`; begin and end are those
 * of the path. */
LodePathReplay *lode_path_replay_new(const LodePathInput *input, LodeWaitEnders *enders,
	uint32_t last, uint64_t begin_ns, uint64_t end_ns);
void lode_path_replay_free(LodePathReplay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePathReplay, lode_path_replay_free)

/* From begin to end, in ns; without an end where threads wait for each other too often. */
double lode_path_replay_run(LodePathReplay *self, const LodePathChange *change);

/* By how much of the time by the clock the change makes the program shorter; ≥ 0. */
double lode_path_replay_saves(LodePathReplay *self, const LodePathChange *change);

/* The replay without a change: about the recorded time. */
double lode_path_replay_whole(const LodePathReplay *self);

/* Whether a cause's waits are for locks. */
bool lode_path_replay_has_lock(const LodePathReplay *self, uint32_t cause);
