/* SPDX-License-Identifier: MIT */
/*
 * The log that an agent wrote of a garbage-collected heap: which object lay at which address when,
 * by its class. The layout is in docs/formats/heap-log.md; times are of CLOCK_MONOTONIC.
 *
 *   time     walk      collection   collection      walk
 *            ├─ as in the walk ─┤               ├─ as in the walk ─┤
 *                               └ what is the same in both walks ──┘
 *
 * A log that ends early (the process was killed) is read as far as it is whole; it holds until
 * then.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LodeHeapLog LodeHeapLog;

/* Errors name the file: _IO, _CORRUPT, _UNSUPPORTED (another version), _LIMIT. */
LodeHeapLog *lode_heap_log_read(const char *path, GError **error);
void lode_heap_log_free(LodeHeapLog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeHeapLog, lode_heap_log_free)

/* Whether the first bytes of a file look like one. */
bool lode_heap_log_is_format(const char *data, size_t size);

/* By process, then by begin. */
int lode_heap_log_compare(const LodeHeapLog *a, const LodeHeapLog *b);

uint32_t lode_heap_log_pid(const LodeHeapLog *self);
uint64_t lode_heap_log_begin_ns(const LodeHeapLog *self);
const char *lode_heap_log_name(const LodeHeapLog *self); /* of the heap: "[Java heap]" */
bool lode_heap_log_is_cut(const LodeHeapLog *self);

typedef struct {
	const char *name; /* of the class; borrowed */
	uint64_t address, size;
	uint64_t seen_ns; /* there, before or after */
} LodeHeapObject;

/* The object that held an address at that time; false: it is not known for certain. */
bool lode_heap_log_find(
	const LodeHeapLog *self, uint64_t address, uint64_t time_ns, LodeHeapObject *out_object);

/* Whether [start, end) has addresses of the heap, at whatever time. */
bool lode_heap_log_is_in(const LodeHeapLog *self, uint64_t start, uint64_t end);
