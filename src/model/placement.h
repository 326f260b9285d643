/* SPDX-License-Identifier: MIT */
/*
 * Which thread should run where, and which memory its pages should be in: what a placement file
 * says. The syntax is that of IRIX dplace(5); docs/formats/placement.md.
 */
#pragma once

#include "model/profile.h"

typedef enum {
	LODE_PLACE_RANGE,      /* a page range on one memory */
	LODE_PLACE_INTERLEAVE, /* a page range over all memories, page by page */
	LODE_PLACE_OBJECT,     /* a named object on one memory */
} LodePlacedKind;

typedef struct {
	LodePlacedKind kind;
	uint64_t start, end; /* run-time addresses [start, end) */
	char *object;        /* of OBJECT */
	uint32_t memory;
} LodePlacedRange;

typedef struct {
	uint32_t n_memories, n_threads;
	char *topology;          /* "cube", "any"… as it stood; NULL */
	GArray *thread_memories; /* uint32_t × n_threads: of the k-th thread; LODE_NONE: anywhere */
	GArray *ranges;          /* LodePlacedRange, in the order of the file */
} LodePlacement;

LodePlacement *lode_placement_new(uint32_t n_memories, uint32_t n_threads);
void lode_placement_free(LodePlacement *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacement, lode_placement_free)
