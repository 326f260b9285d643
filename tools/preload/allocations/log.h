/* SPDX-License-Identifier: MIT */
/*
 * The log of this process: a file that is mapped, not written, so that a process may be killed,
 * close all its descriptors or leave by _exit() and nothing is lost. No descriptor stays open.
 *
 * Nothing here waits, allocates from the heap or is a point of cancellation. errno is changed.
 */
#pragma once

#include "thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether records are taken. The first call opens the log; so does the first one in a child, which
 * finds all that is here wiped by the kernel, however it was forked.
 */
bool log_is_open(ThreadState *thread);

uint64_t log_now(void);

typedef struct {
	uint64_t time;
	const void *address;
	size_t size;
	uint32_t stack;
	uint8_t kind;
} LogAllocation;

void log_allocation(ThreadState *thread, const LogAllocation *made);
void log_free(ThreadState *thread, const void *address, uint64_t time);
void log_unmap(ThreadState *thread, const void *address, size_t size, uint64_t time);
void log_thread_end(ThreadState *thread);

/* The id of a stack, which is written when it is seen first. */
uint32_t log_stack(ThreadState *thread, const uint64_t *addresses, size_t n);

/* Whether the program calls our malloc; set by the file that defines it. */
bool log_is_malloc_ours(void);

/* A call was let through. */
void log_count_unseen(void);

/* Whether the address is in an operator new of the C++ library. */
bool log_is_operator_new(uint64_t address);

/* Changes when code was unloaded: what was kept by address is stale. */
uint32_t log_code_generation(void);
void log_code_unloaded(void);

/*
 * A call stack that was found, with all words of the stack that the walk read. If these are
 * unchanged, so is the call stack.
 */
enum { LOG_MAX_READ = 32 };
typedef struct {
	uint32_t version; /* odd: it is being written */
	uint32_t id;
	uint32_t generation;
	uint8_t kind, found_kind; /* as asked, as found */
	uint8_t n_read;
	uint64_t frame;
	uint32_t offsets[LOG_MAX_READ]; /* of the words read, from the frame */
	uint64_t words[LOG_MAX_READ];
} KnownStack;

/* Where the call stack of a function with this frame and return address is kept. */
KnownStack *log_known_stack_slot(uint64_t frame, uint64_t address);

/* Where the rule of a code address is kept; two words. NULL: nowhere. */
uint64_t *log_frame_rule_slot(uint64_t address);
