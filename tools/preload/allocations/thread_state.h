/* SPDX-License-Identifier: MIT */
/*
 * The state of each thread. Not in thread-local storage: that would make the memory of every thread
 * larger, and move what lies in it. It lies in a table of ours, by the thread's pointer (what %fs
 * holds), which a thread that comes later may have again:
 *
 *   thread that we saw start     its state is new then; its end is seen, too
 *   any other                    is asked for its number each time
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uintptr_t pointer;               /* of the thread; 0: the place is free */
	uint64_t instance;               /* of the log that the rest belongs to; 0: none */
	unsigned char *at, *end;         /* free room of its chunk */
	uint64_t last_time, last_word;   /* of the last packed record in it: time, address / 8 */
	uint64_t created;                /* when; 0: not known */
	uintptr_t stack_low, stack_high; /* where its frames can be; 0: not known */
	uint64_t call_time;              /* when the real function that is at work was called */
	uint32_t tid, chunk_size;
	bool is_known;   /* the thread is certainly the one that `tid` says */
	bool is_inside;  /* one of our functions: what it calls is let through */
	bool is_noting;  /* and of them what is written is not whole yet */
	bool was_inside; /* before it waited for a child that uses its memory */
} ThreadState;

/* Maps the table, at a place far from all others. False: no memory. */
bool thread_state_begin(void);

/* The state of the thread that calls. NULL: the table is missing or full. */
ThreadState *thread_state_find(void);
