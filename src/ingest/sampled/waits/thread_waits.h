/* SPDX-License-Identifier: MIT */
/*
 * How much waiting each look at a thread stands for. When threads waited is known exactly, by
 * context switches; for what, by looks at some of these waits:
 *
 *   thread    ══╡ wait ╞══╡ wait ╞═══╡      wait      ╞══╡ wait ╞══
 *   looks             ▲                ▲                      ▲
 *
 * A wait longer than the interval of looks T has a look, which stands for it. A shorter one of
 * length l is seen with the probability l ÷ T, so that a look stands for T of such waits: together
 * they have the sum of all short waits of the thread. (D. Horvitz, D. Thompson, "A Generalization
 * of Sampling Without Replacement From a Finite Universe", 1952.) Where the kernel told of each
 * switch, each wait has a look, and stands for itself. Private to ingest/sampled/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Who ended a wait, where the kernel told. */
typedef enum {
	LODE_GAP_END_UNKNOWN,
	LODE_GAP_END_BY_THREAD,
	LODE_GAP_END_BY_INTERRUPT, /* a clock, a disk: no thread's doing */
	LODE_GAP_END_BY_NONE,      /* no thread of the program woke it that was not ending */
} LodeThreadGapEnd;

typedef enum {
	LODE_GAP_WAIT,
	LODE_GAP_READY,  /* it could have run: it waits for a processor */
	LODE_GAP_UNSURE, /* a switch is missing: it may have run */
} LodeThreadGapKind;

/* A time in which a thread did not run. */
typedef struct {
	uint64_t begin_ns, end_ns;
	double waiting_ns; /* what it stands for; unsure: what its looks do */
	uint32_t life;
	uint32_t look;     /* that knows why; LODE_NONE: none does… */
	bool is_looked_at; /* …false: that of the nearest wait like it */
	bool is_exact;     /* a look was at its very beginning: it needs no weight */
	uint8_t end;       /* LodeThreadGapEnd */
	LodeThreadGapKind kind;
	uint32_t waker_pid, waker_tid; /* if a thread ended it */
} LodeThreadGap;

typedef struct {
	uint64_t time_ns, interval_ns;
	uint32_t thread; /* by the caller's numbers */
	uint32_t gap;    /* LODE_NONE: it is in none */
	double waiting_ns;
	double guessed_ns; /* of it: of waits that no look stands for, but are as long */
	double count;      /* so many waits are like this one */
	bool is_switch;    /* by the kernel, where the thread stops to run */
	bool is_taken;
} LodeThreadLook;

/* A thread from its beginning to its end, as far as it was recorded. */
typedef struct {
	uint32_t pid, tid, thread;
	uint32_t first_gap, n_gaps;
	uint64_t begin_ns, end_ns;
	double running_ns;
	double waiting_ns;    /* but for a processor */
	double unrecorded_ns; /* of it: while no switches were recorded, by those before */
	double unseen_ns, unseen_count, unseen_longest_ns; /* likewise: no look stands for it */
	double ready_ns, ready_count, ready_longest_ns;
} LodeThreadLife;

typedef struct {
	GArray *gaps;     /* LodeThreadGap, by life and time */
	GArray *looks;    /* LodeThreadLook, by thread and time once they are sorted */
	GArray *lives;    /* LodeThreadLife */
	uint64_t n_stray; /* looks at threads that ran, by their switches: stand for nothing */
} LodeThreadWaits;

void lode_thread_waits_init(LodeThreadWaits *self);
void lode_thread_waits_clear(LodeThreadWaits *self);

void lode_thread_waits_add_look(
	LodeThreadWaits *self, uint32_t thread, uint64_t time_ns, uint64_t interval_ns);
/* A look by the kernel, just before the thread stops to run; why it does is not known yet. */
void lode_thread_waits_add_switch(LodeThreadWaits *self, uint32_t thread, uint64_t time_ns);
void lode_thread_waits_sort_looks(LodeThreadWaits *self);

/* The number of the first look of a thread that is not before a time, once they are sorted. */
guint lode_thread_waits_find_look(const LodeThreadWaits *self, uint32_t thread, uint64_t time_ns);

/* Once all gaps and lives are there. `is_recorded`: whether switches were at that time. */
void lode_thread_waits_weigh(LodeThreadWaits *self,
	bool (*is_recorded)(const void *data, uint64_t time_ns), const void *data);

/* The same without any switches: each look has a gap of its own, and how many waits there were is
 * not known. */
void lode_thread_waits_weigh_alone(LodeThreadWaits *self);
