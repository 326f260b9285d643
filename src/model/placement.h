/* SPDX-License-Identifier: MIT */
/*
 * A placement: which thread should run where, and which memory its pages should be in. The syntax
 * is that of IRIX dplace(5); docs/reference/formats/placement.md.
 */
#pragma once

#include "model/index.h"

/* The limits of a placement; readers of placement files enforce them. */
enum {
	LODE_PLACEMENT_MAX_MEMORIES = 1024, /* as many NUMA nodes as Linux can have */
	LODE_PLACEMENT_MAX_THREADS = 1 << 16,
};

typedef enum {
	LODE_PLACE_RANGE,      /* a page range on one memory */
	LODE_PLACE_INTERLEAVE, /* a page range over all memories, page by page */
	LODE_PLACE_OBJECT,     /* a named object on one memory */
} LodePlacedKind;

typedef struct {
	LodePlacedKind kind;
	uint64_t start, end; /* run-time addresses [start, end) */
	char *object;        /* of OBJECT */
	uint32_t memory;     /* of RANGE and OBJECT */
	char *note;          /* what lies there, for people; NULL */
} LodePlacedRange;

typedef struct {
	uint32_t n_memories, n_threads;
	char *topology;          /* "cube", "none"… as it stood; NULL */
	GArray *thread_memories; /* uint32_t × n_threads: of the k-th thread; LODE_NONE: anywhere */
	GArray *thread_cpus; /* uint32_t × n_threads: the n-th CPU of its memory; LODE_NONE: any */
	GArray *ranges;      /* LodePlacedRange, in the order of the file; a later one wins */
} LodePlacement;

/* All threads anywhere, no ranges. The numbers are within the limits above. */
LodePlacement *lode_placement_new(uint32_t n_memories, uint32_t n_threads);
void lode_placement_free(LodePlacement *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacement, lode_placement_free)

/* The memory of the k-th thread; LODE_NONE: anywhere, or the thread is unknown. */
static inline uint32_t lode_placement_thread_memory(const LodePlacement *self, uint32_t thread)
{
	return thread < self->n_threads ? LODE_AT(self->thread_memories, uint32_t, thread)
	                                : LODE_NONE;
}

/* Whole pages that are one range's, or a part of it that no later range holds. */
typedef struct {
	uint64_t start, end; /* [start, end) */
	uint32_t memory;     /* LODE_NONE: interleaved over all */
} LodePlacementPiece;

/* The ranges as pieces that do not overlap, by address; objects left out, as their addresses are
 * not known here. GArray of LodePlacementPiece; the caller unrefs it. */
GArray *lode_placement_pieces(const LodePlacement *self, uint64_t page_size);

/* Adds a range at the end; `object` and `note` are copied and may be NULL. */
void lode_placement_add(LodePlacement *self, const LodePlacedRange *range);
