/* SPDX-License-Identifier: MIT */
/*
 * What a recording may take of the program's time: a budget for each of its parts, and what all of
 * them took. Private to record/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The part of the program's time that a recording takes, as far as it is known while it runs. Each
 * part has a budget of its own (the other files here); together they should take at most 5 %, or 60
 * ms of a short program. Beyond that probes rest, which are what a recording can best do without,
 * and the profile says what it took.
 */

typedef enum {
	LODE_COST_SAMPLES,
	LODE_COST_RECORDS,  /* of switches and mappings */
	LODE_COST_SWITCHES, /* of threads that are sampled, see sample_slices.h */
	LODE_COST_TASKS,    /* threads and processes that start, see task_budget.h */
	LODE_COST_PROBES,
	LODE_COST_STOPS, /* by ptrace */
	LODE_N_COSTS,
} LodeCost;

typedef struct {
	double ns[LODE_N_COSTS]; /* of the program's processor time */
} LodeOwnCost;

/* `program_ns`: the program's processor time meanwhile. */
bool lode_own_cost_is_over(const LodeOwnCost *self, double program_ns);

/* "lode took some 8.2 % of the program's time, 5.1 % for …"; NULL: hardly more than it should. The
 * caller frees it. */
char *lode_own_cost_text(const LodeOwnCost *self, double program_ns);

/*
 * Bounds what it costs to record context switches. Each takes half a microsecond of the program's
 * time and 40 bytes: next to nothing for most programs, a tenth of the time of one whose threads
 * wake each other a hundred thousand times a second. There they are recorded for a part of the
 * time, and samples of the other part have no known number of threads that ran.
 *
 *   allowance  ╲    ╱╲    ╱╲    ╱       grows with time, shrinks by records
 *   recorded   ──╲__╱──╲__╱──╲__╱
 *
 * Mappings of data, which cost three times as much each, have their part of it: a program that maps
 * and frees 150,000 times a second took a fifth more time.
 *
 * A timer that samples costs more: where switches are dense, by those that are recorded, the
 * program is sampled in slices (sample_slices.h).
 */

typedef struct {
	double allowance; /* records */
	gint64 since_us;
	bool is_over;   /* nothing is to be recorded at present */
	bool are_dense; /* the last that were recorded… */
	double rate;    /* …so many a second */
	uint64_t n;     /* records… */
	gint64 n_us;    /* …in so much of the time in which they were recorded */
} LodeSwitchBudget;

enum {
	LODE_SWITCHES_PER_SECOND = 10000, /* records: a switch has two */
	LODE_SWITCHES_AT_ONCE = 5 * LODE_SWITCHES_PER_SECOND,
	/* Records: from here on switches are dense, and below half of it no longer. */
	LODE_SWITCHES_DENSE = 6000,
};

void lode_switch_budget_init(LodeSwitchBudget *self, gint64 now_us);

/* The program's time that a record of a switch takes. One of a mapping, with its path, takes as
 * much as so many of them, and so does a sample of a switch or of a wake-up, on average. */
#define LODE_SWITCH_RECORD_NS 500.0
#define LODE_MAPPING_RECORDS 3.0
#define LODE_SWITCH_SAMPLE_RECORDS 4.0

/* Takes off what is recorded besides, as so many records of switches. */
void lode_switch_budget_charge(LodeSwitchBudget *self, double n_records);

/* Takes the records since the last call. Gives whether switches are to be recorded from now on. */
bool lode_switch_budget_take(LodeSwitchBudget *self, uint64_t n_records, gint64 now_us);

/*
 * Bounds what events cost a program that starts threads and processes again and again. A new one
 * gets a copy of every open event, of disabled ones too, and gives it back at its end: a program
 * that starts 20,000 threads a second takes three times as long with six events on each of two
 * processors. So there is an allowance for it; when that is used up, the events that a recording
 * can do without are to be closed. Threads that are started once and used again pay once.
 *
 *   allowance   ╲___╱╲     grows with time, shrinks by what starts
 */

/* Processor time that an event costs a new thread or process, at its start and its end together.
 * Measured in a virtual machine; it is less on hardware. */
#define LODE_TASK_EVENT_NS 10e3

typedef struct {
	double left_ns; /* of the program's time */
	gint64 begin_us, since_us;
	uint64_t n;  /* threads and processes that were started */
	double rate; /* …a second, since the beginning */
} LodeTaskBudget;

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us);

/* Takes the number of threads and processes that were started so far, and that of the descriptors
 * that could be closed, for which each of these pays. Whether they are to be closed. */
bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us);

/*
 * When a program is sampled whose threads switch very often. With each switch the kernel takes the
 * timer from one thread and sets it for the next, which costs microseconds however rarely it
 * expires; disabled it costs next to nothing. So there are many samples in short slices of the
 * time, at random, and none between them:
 *
 *   sampled   ▁▁▁▁▁▁▁▁▁▁███▁▁▁▁▁▁▁▁▁▁▁▁▁▁██▁▁▁▁▁▁▁▁▁    3 % of the time
 *
 * The part is chosen by what a second of sampling costs. A sample stands for 1 ÷ part of its
 * period, whose sum is right whatever the part is, as slices do not depend on what the program does
 * (Horvitz and Thompson 1952).
 */

typedef struct {
	uint64_t frequency; /* samples a second, in a slice */
	double sample_ns;   /* of the program's time, each */
	double budget;      /* of its time, for sampling */
} LodeSliceCosts;

typedef struct {
	double part;    /* of the time; what a sample of now stands for is its inverse */
	double owed_us; /* of slices, at since_us; below 0: there was too much of them */
	double turn_us; /* a slice begins at so much owed, and ends at as much less than 0 */
	gint64 since_us;
	double sliced_us, passed_us; /* in all */
	double switches_ns;          /* of the program's time, that its switches took in slices */
	bool is_on;
} LodeSampleSlices;

void lode_sample_slices_init(LodeSampleSlices *self, gint64 now_us);

/* Whether there is a slice from now on; `switches` a second are the last that are known. */
bool lode_sample_slices_update(
	LodeSampleSlices *self, const LodeSliceCosts *costs, double switches, gint64 now_us);

/* The time until then was sampled otherwise. */
void lode_sample_slices_skip(LodeSampleSlices *self, gint64 now_us);

/* When that may change. */
gint64 lode_sample_slices_due_us(const LodeSampleSlices *self);

/*
 * how often threads are looked at that are sampled by ptrace, so that what
 * lode takes of the program's time is bounded, whatever a stop costs on this machine.
 *
 *   cost of a sample ÷ 3.5 % = time from one look to the next   84 µs ÷ 3.5 % = 2.4 ms
 *
 * In the first half second 40 ms may be spent, as short programs have few samples else. All other
 * stops (signals, new threads and processes) cannot be avoided, and are taken off the share.
 *
 * Threads that were found waiting again and again are looked at by chance, at the same cost however
 * many there are. A sample weighs the time between two looks ÷ the chance that the thread was
 * looked at, so that totals are right for any chances that do not depend on what the thread does at
 * that moment (Horvitz and Thompson 1952, "A generalization of sampling without replacement from a
 * finite universe").
 */

typedef struct {
	double sample_ns;   /* of the clock, for one thread's look, stop and sample */
	double round_ns;    /* of looks at all threads, with their samples; both smoothed */
	double other_share; /* of the time, spent at stops other than samples */
	double other_ns;    /* likewise, not in the share yet */
	uint64_t begin_ns, share_since_ns;
	double least_ns; /* between two looks, as the user wants */
	double spent_ns; /* on all samples and other stops */
} LodeStopBudget;

/* `frequency`: at most so many looks a second; 0: what the budget allows. */
void lode_stop_budget_init(LodeStopBudget *self, uint64_t frequency, uint64_t now_ns);

/* Adds the cost of a sample; of a round of looks; of a stop for other reasons. */
void lode_stop_budget_add_sample(LodeStopBudget *self, uint64_t cost_ns);
void lode_stop_budget_add_round(LodeStopBudget *self, uint64_t cost_ns);
void lode_stop_budget_add_other(LodeStopBudget *self, uint64_t cost_ns, uint64_t now_ns);

/* The mean time from one look to the next, from now on. */
double lode_stop_budget_interval_ns(const LodeStopBudget *self, uint64_t now_ns);

/* The chance of a look at a thread that was found waiting `n_waited` times in a row, as
 * `n_waiting` threads were. */
double lode_stop_budget_chance(unsigned n_waited, unsigned n_waiting);

/* Whether a thread is one of those that wait. */
bool lode_stop_budget_is_waiting(unsigned n_waited);
