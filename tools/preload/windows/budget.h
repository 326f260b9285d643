/* SPDX-License-Identifier: MIT */
/*
 * The processor time that windows may take: a share of that of all processes of a recording, which
 * have a page in common, DIRECTORY/budget.
 *
 *   process ── tells what it has worked ───▶ worked ┐
 *           ── reserves before each window ▶ spent  ┴─▶ may a window begin?
 *
 * A process that is killed in a window leaves what it has reserved for it. The page may hold
 * anything, if the program writes to it by mistake: whatever it says, a process has windows for no
 * more than a quarter of its own time, or the share if that is more.
 *
 * No lock, no memory from the heap: for signal handlers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of one process; all 0 in a child. */
typedef struct {
	uint64_t before_ns;   /* the process's time until it executed this program */
	uint64_t told_ns;     /* of the time since, without that of windows */
	uint64_t spent_ns;    /* by its windows */
	uint64_t reserved_ns; /* for the window that there is */
} Budget;

/* Processor time of this process. */
uint64_t budget_used_ns(void);

/* Maps the page, which is made if there is none. `share_ppm`: of the processor time. */
bool budget_open(const char *directory, uint32_t share_ppm);

/* For a program that begins. */
void budget_begin(Budget *self);

/* What a program, or a child, took to begin the library is spent, too: `began_ns` of its processor
 * time was when it did so. */
void budget_charge_begin(uint64_t began_ns);

/* Tells the others what this process has worked, and gives that, without windows. */
uint64_t budget_tell(Budget *self);

/* Whether there is `wanted_ns` for a window; then `cost_ns` is reserved for it. */
bool budget_reserve(Budget *self, uint64_t wanted_ns, uint64_t cost_ns);

/* The window has ended, and has cost so much. */
void budget_settle(Budget *self, uint64_t cost_ns);

/* The recording has ended. */
bool budget_is_over(void);
