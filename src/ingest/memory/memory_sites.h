/* SPDX-License-Identifier: MIT */
/* Allocation sites by name, from the call stacks of allocation logs. Private to ingest/. */
#pragma once

#include "ingest/memory/memory_loads.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeMemorySites LodeMemorySites;
typedef struct LodeProfile LodeProfile;

/*
 * Names all stacks of all logs and adds their sites to profile->memory. A site is named after the
 * innermost call that is not an allocator's own or a wrapper around one, by its name ("xmalloc",
 * "operator new").
 */
LodeMemorySites *lode_memory_sites_new(
	LodeProfile *profile, LodeMemoryReading *reading, LodeMemoryLoads *loads);
void lode_memory_sites_free(LodeMemorySites *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemorySites, lode_memory_sites_free)

typedef struct {
	uint32_t input, pid;
	uint64_t time_ns; /* UINT64_MAX: at last */
} LodeMemoryPlace;

/* The allocation that held an address in this process then, its own or one from before it was
 * forked, as an index of profile->memory->allocations, where it is added; its thread is the
 * reading's. LODE_NONE: none. */
uint32_t lode_memory_sites_find(
	LodeMemorySites *self, const LodeMemoryPlace *place, uint64_t address);

/*
 * The site of the allocation that a thread was about to get when the allocator touched an address
 * where nothing was allocated yet: its next one, if that is there or nearby. `image` is that of the
 * code that touched, which must be of the C library or an allocator. LODE_NONE: none.
 */
uint32_t lode_memory_sites_find_ongoing(LodeMemorySites *self, const LodeMemoryPlace *place,
	uint32_t tid, uint32_t image, uint64_t address);

/* The number of a site in profile->memory, which is added where its name is new; `stack` may be
 * NULL. */
uint32_t lode_memory_sites_add(LodeMemorySites *self, const char *name, const char *stack);

/* Where a call returns to that allocates. */
typedef struct {
	uint32_t image;          /* of the reading's images */
	uint64_t return_address; /* in it; 0: not known */
} LodeAllocatingCall;

/* The call at the site of an allocation, as lode_memory_sites_find() gives it. NULL: unknown, or
 * the value returned there need not be the block. */
const LodeAllocatingCall *lode_memory_sites_call(const LodeMemorySites *self, uint32_t allocation);
