/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: all processes of a traced program, from the chunks of the ring to their
 * files. A process has ended when the kernel reports it and all its chunks are read; a separate
 * thread then finishes its file, while others run.
 */
#pragma once

#include "record/qemu/trace_ring.h"
#include "record/qemu/trace_run.h"

typedef struct LodeTracedProcesses LodeTracedProcesses;

/* Both are borrowed. */
LodeTracedProcesses *lode_traced_processes_new(LodeTraceRun *run, LodeTraceRing *ring);
void lode_traced_processes_free(LodeTracedProcesses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedProcesses, lode_traced_processes_free)

/* Takes the next chunk of the ring; all chunks must be given, in their order. */
void lode_traced_processes_take(LodeTracedProcesses *self, LodeTraceRingChunk *chunk);

/* Ends the processes that have ended, and reports progress; does so every 50 ms at most. */
void lode_traced_processes_poll(LodeTracedProcesses *self);

/* After the last chunk: ends all files, and adds the recorded processes to `run`. */
void lode_traced_processes_finish(LodeTracedProcesses *self);

/* After the end: whether the program started, whether any process was recorded, and the number of
 * functions found. */
bool lode_traced_processes_have_started(const LodeTracedProcesses *self);
bool lode_traced_processes_have_any(const LodeTracedProcesses *self);
unsigned lode_traced_processes_n_functions(const LodeTracedProcesses *self);

/* Adds notes on the processes and programs that were not traced. */
void lode_traced_processes_note(const LodeTracedProcesses *self);
