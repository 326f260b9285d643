/* SPDX-License-Identifier: MIT */
/* What each thread has of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t instance;               /* of the log that the rest belongs to; 0: none */
	unsigned char *at, *end;         /* free room of its chunk */
	uint64_t created;                /* when; 0: not known */
	uintptr_t stack_low, stack_high; /* where its frames can be; 0: not known */
	uint32_t tid, chunk_size;
	uint64_t call_time; /* when the real function that is at work was called */
	bool is_inside;     /* one of our functions: what it calls is let through */
	bool is_noting;     /* and of them what is written is not whole yet */
} ThreadState;

/* In the block that every thread has from its start: to use it allocates nothing. */
extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));
