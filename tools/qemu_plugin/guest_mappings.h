/* SPDX-License-Identifier: MIT */
/* The mappings of the program: those at its start, and those that it makes by system calls. A
 * listener gets them as events. */
#pragma once

#include "record/qemu/trace_ring_format.h"

#include <stdbool.h>

/* The listener, called in the thread that makes the mapping. */
typedef struct {
	/* `event` may be NULL; with `is_awaited` the program may only go on when it is dealt with.
	 */
	void (*send_event)(TraceEventKind kind, const TraceEvent *event, bool is_awaited);
	void (*expect_threads)(void); /* one is about to begin; may be NULL */
	bool awaits_code;             /* mappings of code are awaited */
} GuestMappingsListener;

/* Before the program's first instruction; `base` is where QEMU has put its address 0. The listener
 * is borrowed for good. */
void guest_mappings_start(const GuestMappingsListener *listener, uint64_t base);

/* Before and after a system call of the calling thread, with its six arguments. */
void guest_mappings_before_call(int64_t number, const uint64_t *arguments);
void guest_mappings_after_call(int64_t number, const uint64_t *arguments, int64_t result);

/* Copies from the program's memory, whatever address that is; how many bytes could be read. */
size_t guest_mappings_read(uint64_t address, void *out_bytes, size_t size);
