/* SPDX-License-Identifier: MIT */
/*
 * Programs of threads, locks, conditions, barriers, pools and pipes, run by a discrete-event
 * simulation on some processors. What a recording would have of them is the input of a critical
 * path; who woke whom is known as well.
 */
#pragma once

#include "ingest/waits/critical_path.h"

typedef enum {
	OP_WORK, /* what: place; amount: ns */
	OP_LOCK, /* what: an object, as of all below */
	OP_UNLOCK,
	OP_ARRIVE, /* at a barrier; amount: of how many threads */
	OP_PUT,    /* into a queue; wakes one of those that wait */
	OP_TAKE,   /* from a queue that may be empty */
	OP_READ,   /* as OP_TAKE, from a pipe: its writer is known */
	OP_START,  /* what: a thread */
	OP_JOIN,   /* what: a thread */
	OP_SLEEP,  /* amount: ns */
	OP_SYNC,
} OpKind;

typedef struct {
	OpKind kind;
	uint32_t what;
	uint64_t amount;
} Op;

/* Causes: of an object its number; after them three more. */
enum { CAUSE_JOIN, CAUSE_SLEEP, CAUSE_SYNC, CAUSE_PROCESSOR, N_OTHER_CAUSES };

typedef struct {
	GPtrArray *threads; /* GArray of Op; the first is main */
	uint32_t n_objects, n_places, n_processors;
	bool is_fair; /* locks are given in the order of asking; else to who comes first */
} Program;

Program *program_new(uint32_t n_threads, uint32_t n_objects, uint32_t n_processors);
void program_free(Program *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

void program_add(Program *self, uint32_t thread, OpKind kind, uint32_t what, uint64_t amount);

/* The same one without the work at a place; with half of what is done under a lock done after it.
 */
Program *program_without_place(const Program *self, uint32_t place);
Program *program_with_short_lock(const Program *self, uint32_t lock);

/* A run of it. The input borrows from the arrays. */
typedef struct {
	GArray *threads, *intervals, *holds;
	LodePathInput input;
	uint64_t length_ns;
} Run;

typedef enum {
	WAKERS_GIVEN,  /* of all waits */
	WAKERS_HIDDEN, /* but for those of joins and pipes */
} Wakers;

Run *program_run(const Program *self, Wakers wakers);
void run_free(Run *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)
