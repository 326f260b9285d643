/* SPDX-License-Identifier: MIT */
/*
 * Private to record/waits/: one look at a thread: what it waits for, from proc(5), as a sample of
 * the event "waiting" (sources/perf_data/wait_look.h).
 *
 *   schedstat ─▶ has it run since the last look? no: it waits as it did
 *   syscall   ─▶ running, or: the call, its arguments, stack pointer, address
 *                 ├─ futex       ─▶ words around it, and where the holder is
 *                 ├─ descriptor  ─▶ what it is
 *                 └─ new place   ─▶ the top of its stack
 *
 * The thread is never stopped; whether it ran meanwhile is seen by its schedstat.
 */
#pragma once

#include "record/waits/script_looks.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that is looked at. */
typedef struct {
	pid_t pid;
	int handle;               /* pidfd, once a socket was asked for; -1 */
	unsigned listed;          /* the last listing of processes that had it */
	GHashTable *places;       /* set of uint64_t: hashes of the places whose stack was taken */
	LodeScriptLooks *scripts; /* owned; NULL: frames of interpreters are not looked at */
} LodeLookedProcess;

LodeLookedProcess *lode_looked_process_new(pid_t pid);
void lode_looked_process_free(LodeLookedProcess *self);

typedef struct {
	LodeLookedProcess *process; /* borrowed */
	pid_t tid;
	int calls, runs;           /* descriptors of syscall and schedstat; -1: not kept open */
	uint64_t n_runs, delay_ns; /* at the last look */
	uint64_t looked_ns;        /* when that was, or the thread became known */
	bool was_waiting, is_seen;
	unsigned listed; /* the last listing that had it */
} LodeLookedThread;

LodeLookedThread *lode_looked_thread_new(
	LodeLookedProcess *process, pid_t tid, bool keeps_open, uint64_t now_ns);
void lode_looked_thread_free(LodeLookedThread *self);

typedef enum {
	LODE_LOOK_GONE,    /* the thread has ended */
	LODE_LOOK_SAME,    /* it waits as at the last look; nothing was written */
	LODE_LOOK_RUNNING, /* or it waits for a processor; likewise */
	LODE_LOOK_DONE,
	LODE_LOOK_REFUSED, /* the system forbids it: only the kernel's function is known */
} LodeLookOutcome;

typedef struct {
	uint16_t stack_bytes;   /* of a place that is new, at most */
	uint64_t n_stack_bytes; /* that may still be written */
	GByteArray *records;    /* is appended to */
	bool tells_running;     /* a record for one that runs, too */
} LodeLookOutput;

LodeLookOutcome lode_looked_thread_look(LodeLookedThread *self, LodeLookOutput *out);

/* Whether it runs: LODE_LOOK_RUNNING, _GONE, or _SAME for one that waits, of which nothing is read.
 */
LodeLookOutcome lode_looked_thread_peek(const LodeLookedThread *self);

/* The attribute of these samples. */
struct perf_event_attr;
void lode_look_attribute(struct perf_event_attr *out_attr, uint16_t stack_bytes);
