/* SPDX-License-Identifier: MIT */
/*
 * Samples of each context switch, and of who wakes whom, where the kernel allows them
 * (perf_event_paranoid of 1 or less, or CAP_PERFMON; tracefs for the latter). Stacks are copied by
 * the kernel each time, and written where a thread is seen with such a one for the first time:
 *
 *   header │ id, ip, thread, time, CPU │ kernel's functions │ registers │ stack
 *                                                             └────── key ────┘ └ later, the key
 *
 * Private to record/.
 */
#pragma once

#include "record/events/perf_kernel.h"

/* Makes of an event that reports switches one that is a sample of each, too. */
void lode_switch_samples_ask(struct perf_event_attr *attr);

/* Makes of an event the tracepoint sched:sched_waking. False: tracefs cannot be read, or has it in
 * a form that is not known. */
bool lode_waking_samples_ask(const LodePerfKernel *kernel, struct perf_event_attr *attr);

/* The attribute that is written for it: perf refuses a file with a tracepoint that is not described
 * there in its own way. */
void lode_waking_samples_write_as(struct perf_event_attr *attr);

typedef struct LodeSwitchStacks LodeSwitchStacks;

LodeSwitchStacks *lode_switch_stacks_new(void);
void lode_switch_stacks_free(LodeSwitchStacks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSwitchStacks, lode_switch_stacks_free)

/* Puts its key in place of the stack in a sample of a switch, if there was such a one; gives the
 * record's size. */
size_t lode_switch_stacks_cut(LodeSwitchStacks *self, uint8_t *record, size_t size);
