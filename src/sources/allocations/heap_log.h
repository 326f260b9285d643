/* SPDX-License-Identifier: MIT */
/*
 * Reads the log of a garbage-collected heap: the class of the object that lay at an address at a
 * time (CLOCK_MONOTONIC). docs/reference/formats/heap-log.md has the format.
 *
 *   time     walk      collection   collection      walk
 *            ├─ as in the walk ─┤               ├─ as in the walk ─┤
 *                               └ what is the same in both walks ──┘
 *
 * If the log is cut short (the process was killed), its whole records hold, up to the last walk or
 * collection.
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

/* Where objects were allocated of which about one in so many bytes was sampled. */
typedef struct {
	const char *name;  /* "new@Ring.java:21" */
	const char *stack; /* from the allocation out to there, " < " between; NULL: not known */
	uint32_t interval; /* bytes, on average; not 0 */
} LodeHeapSite;

typedef struct {
	const char *name; /* of the class; borrowed */
	uint64_t address, size;
	uint64_t seen_ns;         /* time of the walk that saw it there, before or after */
	const LodeHeapSite *site; /* borrowed; NULL: its allocation was not sampled */
} LodeHeapObject;

/* The object that held an address at that time; false: it is not known for certain. */
bool lode_heap_log_find(
	const LodeHeapLog *self, uint64_t address, uint64_t time_ns, LodeHeapObject *out_object);

/* Memory outside of the heap, and for how long it was mapped. */
typedef struct {
	uint64_t start, end;       /* [start, end) */
	uint64_t begin_ns, end_ns; /* likewise */
} LodeHeapMemory;

/*
 * The object at an address that fills at least half of the memory, by all walks of its time that
 * saw one there: V8 has memory mapped for each large typed array, which does not move. False: the
 * walks saw none, or differ, or the memory is of the heap.
 */
bool lode_heap_log_find_alone(const LodeHeapLog *self, const LodeHeapMemory *memory,
	uint64_t address, LodeHeapObject *out_object);

/* Whether addresses in [start, end) were of the heap at any time. */
bool lode_heap_log_is_in(const LodeHeapLog *self, uint64_t start, uint64_t end);
