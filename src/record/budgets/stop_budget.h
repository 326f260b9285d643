/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: how often threads are looked at that are sampled by ptrace, so that what
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
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
