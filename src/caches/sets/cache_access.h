/* SPDX-License-Identifier: MIT */
/* One reference's way through the caches of its core. Private to caches/. */
#pragma once

#include "caches/sets/cache_core.h"
#include "traces/reference.h"

enum { LODE_ACCESS_MAX_BYTES = 1 << 14 }; /* of a larger reference, so many are looked up */

/* The data of a reference, including that which its misses report. */
typedef struct {
	uint64_t first, last; /* bytes; the latter not below the former */
	uint64_t instruction; /* its address; of data, where some cache is trained by it, or misses
	                         name stores */
	LodeReferenceKind kind;
	LodeCacheMiss *miss; /* its place, filled in but for what a cache knows */
} LodeCacheAccess;

/* Only the TLBs, only the caches, or both. Counts are those of the machine; of the first level,
 * accesses are not counted, since most never come here. */
enum { LODE_ACCESS_TLBS = 1, LODE_ACCESS_CACHES = 2 };

void lode_cache_access(LodeCacheMachine *machine, LodeCacheCore *core,
	const LodeCacheAccess *access, unsigned parts);
