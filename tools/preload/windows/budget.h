/* SPDX-License-Identifier: MIT */
/*
 * The processor time that windows may take: a share of the processor time of all processes of a
 * recording, which share a page, the file DIRECTORY/budget (docs/reference/formats/windows.md).
 *
 *   process ── adds the time it has used ───▶ worked ┐
 *           ── reserves before each window ─▶ spent  ┴─▶ may a window begin?
 *
 * If a process is killed in a window, the reserved time stays spent. A program may overwrite the
 * page by mistake: whatever is in it, a process has windows for no more than a quarter of its own
 * time, or the share if that is more.
 *
 * Signal handlers call this: it takes no lock and no memory from the heap.
 */
#pragma once

#include "sources/windows/window_log_format.h"

#include <stdbool.h>
#include <stdint.h>

/* A process's part; all 0 in a child. */
typedef struct {
	uint64_t before_ns;   /* processor time before it executed this program */
	uint64_t told_ns;     /* added to the page so far: time since then, without windows */
	uint64_t spent_ns;    /* in its windows */
	uint64_t reserved_ns; /* for the window that has begun */
} Budget;

/* Processor time of this process. */
uint64_t budget_used_ns(void);

/* Maps the page, and makes it if it does not exist. `folder`: of the logs, which no other user can
 * change. `share_ppm`: of the processor time. */
bool budget_open(int folder, uint32_t share_ppm);

/* Unmaps the page, in a process that is not to be stepped: by the page the recorder knows those
 * that are (LodeWindowRecorder), also where one with this process's id announced itself before it
 * executed this program. No window can be reserved from then on, nor time be told. */
void budget_close(void);

/* NULL: it is not mapped. */
LodeWindowBudget *budget_page(void);

/* To be called when the process has executed a program. */
void budget_begin(Budget *self);

/* Counts the time that the library took to start in a program or a child as spent. It started when
 * the process had used `began_ns`. */
void budget_charge_begin(uint64_t began_ns);

/* Adds the time that this process has used since the last call to the page; gives all that it has
 * used since it executed the program. Both are without windows. */
uint64_t budget_tell(Budget *self);

/* Whether there is `wanted_ns` for a window; then `cost_ns` is reserved for it. */
bool budget_reserve(Budget *self, uint64_t wanted_ns, uint64_t cost_ns);

/* Corrects the reservation when the window has ended: it took `cost_ns`. */
void budget_settle(Budget *self, uint64_t cost_ns);

/* The recording has ended. */
bool budget_is_over(void);
