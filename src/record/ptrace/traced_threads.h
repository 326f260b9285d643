/* SPDX-License-Identifier: MIT */
/*
 * Private to record/ptrace/: the threads and processes that are traced, and what /proc says of them
 * (proc(5)): whether a thread runs, and how often it was put on a processor.
 */
#pragma once

#include "record/ptrace/interrupted_call.h"
#include "record/ptrace/own_processor.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping of code. */
typedef struct {
	uint64_t start, end;
} LodeTracedRange;

typedef struct {
	pid_t pid;
	GArray *code;        /* LodeTracedRange, those that are recorded */
	uint64_t mapped_ns;  /* when its mappings were read last */
	uint64_t checked_ns; /* when its signals were looked at last; 0: never */
	unsigned n_threads;
	bool is_leaving; /* its threads are let go as they stop */
} LodeTracedProcess;

/* How long a thread has run and waited for a processor, and how often it was put on one. */
typedef struct {
	uint64_t ran_ns, waited_ns, n_arrivals;
	bool is_known;
} LodeRunDelay;

typedef struct {
	pid_t tid;
	LodeTracedProcess *process;
	char name[16];      /* as it is recorded; empty: not yet */
	int status, delays; /* descriptors of its files in /proc; −1: opened when needed */
	unsigned n_waited;  /* looks in a row that found it waiting */
	LodeThreadStat stat;
	double call_share; /* of the stops from another processor, those at a call's end: a moving
	                      mean */
	unsigned n_missed; /* looks in a row that should have been from its processor */
	unsigned n_samples;
	bool is_asked;             /* to stop, which it has not yet */
	bool is_second;            /* likewise, as the first time it was in a system call */
	bool is_late_for_user;     /* a stop of the user's is to come, see LodeStopUser */
	bool is_spoiled;           /* it has stopped for something else since */
	bool was_stopped_by_group; /* since its last stop of another kind */
	bool is_frozen;            /* by a signal, with its process */
	/* The call that it was found in and that begins again: a long one would never end. */
	uint64_t call_ip, call_sp;
	unsigned n_restarts, n_skips; /* in a row; looks to leave out */
	LodePartedCall *parted;       /* a call that goes on with its rest; NULL: none does */
	/* When it was asked: */
	uint64_t look_ns, asked_ns;
	bool is_late;     /* it was time to look before that */
	double weight_ns; /* of its first sample */
	LodeRunDelay delay;
	uint64_t counted_ns; /* of the time that it has run, which samples stand for; 0: none yet */
} LodeTracedThread;

typedef struct {
	GHashTable *threads;   /* tid → LodeTracedThread */
	GPtrArray *order;      /* the same, in the order in which they are looked at */
	GHashTable *processes; /* pid → LodeTracedProcess */
	unsigned n_kept;       /* descriptors */
} LodeTracedThreads;

void lode_traced_threads_init(LodeTracedThreads *self);
void lode_traced_threads_clear(LodeTracedThreads *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTracedThreads, lode_traced_threads_clear)

/* NULL: not traced. */
LodeTracedThread *lode_traced_threads_find(const LodeTracedThreads *self, pid_t tid);
LodeTracedProcess *lode_traced_threads_find_process(const LodeTracedThreads *self, pid_t pid);

/* Adds a thread, and its process if that is new: with the code of `parent` (NULL: of none). */
LodeTracedThread *lode_traced_threads_add(
	LodeTracedThreads *self, pid_t pid, pid_t tid, const LodeTracedProcess *parent);

/* Also its process when it was the last one. */
void lode_traced_threads_remove(LodeTracedThreads *self, LodeTracedThread *thread);

/* A program is executed by `pid`: its other threads have ended. */
LodeTracedThread *lode_traced_threads_execute(LodeTracedThreads *self, pid_t pid);

/* Whether it runs or waits for a processor (state R), and on which. `out_delay`: as it was just
 * before. */
bool lode_traced_thread_is_running(
	LodeTracedThreads *self, LodeTracedThread *thread, LodeRunDelay *out_delay);

LodeRunDelay lode_traced_thread_delay(LodeTracedThreads *self, LodeTracedThread *thread);

/* When a thread was taken off its processor, seen from a look at `look_ns` and a later stop. */
typedef enum {
	LODE_RAN_ON,     /* not at all: it runs on another one than who looks */
	LODE_RAN_UNTIL,  /* for who looks */
	LODE_RAN_BEFORE, /* it waited for one, or nothing is sure */
} LodeRan;

LodeRan lode_run_delay_compare(const LodeRunDelay *at_look, const LodeRunDelay *at_stop,
	uint64_t look_ns, uint64_t stop_ns);
