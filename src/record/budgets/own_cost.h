/* SPDX-License-Identifier: MIT */
/*
 * The part of the program's time that a recording takes, as far as it is known while it runs. Each
 * part has a budget of its own (the other files here); together they should take at most 5 %, or 60
 * ms of a short program. Beyond that probes rest, which are what a recording can best do without,
 * and the profile says what it took.
 */
#pragma once

#include <stdbool.h>

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
