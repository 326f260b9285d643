/* SPDX-License-Identifier: MIT */
/* References that may change a cache, and their way through one machine. Private to caches/. */
#pragma once

#include "caches/sets/cache_core.h"
#include "traces/reference.h"

enum { LODE_ACCESS_MAX_BYTES = 1 << 14 }; /* of a larger reference, so many are looked up */

/* Only the TLBs, only the caches, or both. */
enum { LODE_ACCESS_TLBS = 1, LODE_ACCESS_CACHES = 2 };

/* The data needed to look it up and to report a miss. */
typedef struct {
	uint64_t address;
	uint32_t reference, invocation; /* from the beginning of the frame */
	uint16_t extent, thread;
	uint8_t kind;              /* LodeReferenceKind */
	uint8_t instruction, slot; /* in the block; slot 255: the fetch */
	uint8_t parts;             /* LODE_ACCESS_… bits: which lookups it takes */
} LodeFilteredReference;

/* Looks it up, level by level, and reports its misses. */
void lode_filtered_reference_access(const LodeFilteredReference *self, const LodeTraceFrame *frame,
	LodeCacheMachine *machine, LodeCacheCore *core);

/* The same, but for reports of misses, of a data reference in one line that the first level did not
 * hold and has brought in already, in place of `victim`; of a machine whose hits only touch. */
void lode_line_brought_in(LodeCacheMachine *machine, LodeCacheCore *core,
	const LodeFilteredReference *at, uint64_t victim);

/* All of them in their order, on the cores of their threads. False: no memory for a core. */
bool lode_filtered_references_replay(const LodeFilteredReference *references, size_t n,
	const LodeTraceFrame *frame, LodeCacheMachine *machine);
