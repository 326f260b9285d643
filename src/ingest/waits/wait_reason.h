/* SPDX-License-Identifier: MIT */
/*
 * What a thread waited for, by a look at it:
 *
 *   system call ──▶ descriptor, time, child …  ──▶ reason, object
 *              └──▶ futex: operation, value, words around, functions that called
 *   no system call: a page fault, or stopped
 *
 * A futex's operation, value and words decide first, as a program may have no names; functions
 * refine. The layouts are those of glibc 2.36 (nptl/, struct_mutex.h, pthreadtypes.h).
 *
 * Private to ingest/.
 */
#pragma once

#include "model/waits.h"
#include "process/places.h"
#include "process/threads.h"
#include "sources/perf_data/wait_look.h"

typedef struct LodeWaitNames LodeWaitNames;

/* All borrowed. */
typedef struct {
	const LodeWaitLook *look;
	const LodePerfRecord *record; /* the sample that has it */
	uint64_t time_ns;
	const GArray *chain; /* LodePlace: the callers of the waiting code, the innermost first */
	LodePlaces *places;
	LodeThreads *threads;
	LodeWaitNames *names; /* NULL: objects in memory are not named */
	bool is_timed_out;    /* the wait ended as its time was over */
} LodeWaitQuestion;

/* The reason; the object ("ledger_lock", a file) and the system call ("futex"), which the caller
 * frees; NULL: not known. */
LodeWaitReason lode_wait_reason_find(
	const LodeWaitQuestion *question, char **out_object, char **out_call);
