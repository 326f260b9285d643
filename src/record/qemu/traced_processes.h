/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: all processes of a traced program, from the chunks of the ring to their
 * files. A process has ended when the kernel reports it and all its chunks are read; a thread of
 * ours then ends its file, while others go on.
 */
#pragma once

#include "record/qemu/trace_ring.h"
#include "record/qemu/trace_run.h"

typedef struct LodeTracedProcesses LodeTracedProcesses;

/* Both are borrowed. */
LodeTracedProcesses *lode_traced_processes_new(LodeTraceRun *run, LodeTraceRing *ring);
void lode_traced_processes_free(LodeTracedProcesses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedProcesses, lode_traced_processes_free)

/* All chunks go here, in their order. */
void lode_traced_processes_take(LodeTracedProcesses *self, LodeTraceRingChunk *chunk);

/* Looks which have ended, at most some times a second, and reports. */
void lode_traced_processes_poll(LodeTracedProcesses *self);

/* No more chunks will come: ends all files, and gives `run` what became of them. */
void lode_traced_processes_finish(LodeTracedProcesses *self);

/* After the end. Whether the program began, any was recorded; functions that were found. */
bool lode_traced_processes_have_started(const LodeTracedProcesses *self);
bool lode_traced_processes_have_any(const LodeTracedProcesses *self);
unsigned lode_traced_processes_n_functions(const LodeTracedProcesses *self);

/* Notes the processes and programs that are not traced. */
void lode_traced_processes_note(const LodeTracedProcesses *self);
