/* SPDX-License-Identifier: MIT */
/*
 * The orders of lode to the library that it preloads to apply a placement, and the answers: one
 * file that both map. Plain C without any library, as the preloaded one is nothing else.
 *
 *   │ header, with counters │ threads │ masks │ pieces │ objects │ names │
 *        ▲ written by the program                ▲ disjoint, by address
 */
#pragma once

#include <stdint.h>

#define PLACEMENT_ORDERS_VARIABLE "LODE_PLACEMENT_ORDERS"   /* the path of the file */
#define PLACEMENT_ORDERS_MAGIC UINT64_C(0x3130524445444f4c) /* "LODEDR01" */

enum {
	PLACEMENT_ORDERS_MAX_CPUS = 1024,  /* a cpu_set_t's */
	PLACEMENT_ORDERS_MAX_NODES = 1024, /* the kernel's limit */
	PLACEMENT_ORDERS_WORDS = 1024 / 64,
	PLACEMENT_ORDERS_INTERLEAVED = -1, /* in place of a node */
};

typedef struct {
	uint64_t words[PLACEMENT_ORDERS_WORDS];
} PlacementMask;

typedef struct {
	uint64_t start, end; /* whole pages */
	int64_t node;        /* or PLACEMENT_ORDERS_INTERLEAVED */
} PlacementPiece;

enum {
	PLACEMENT_OBJECT_PROGRAM, /* start and size are relative to the program's own image */
	PLACEMENT_OBJECT_SYMBOL,  /* its name is to be looked up */
	PLACEMENT_OBJECT_MAPPING, /* its name is that of a mapping: "[heap]", a path's last part */
};

typedef struct {
	uint32_t kind;
	uint32_t is_found; /* answered */
	uint64_t start, size;
	uint64_t name; /* offset in the file of a NUL-terminated text */
	int64_t node;
} PlacementObject;

typedef struct {
	uint64_t magic, size_bytes;
	int32_t lode_pid; /* the program is its child */
	uint32_t is_strict;
	uint32_t n_threads, n_masks, n_pieces, n_objects;
	/* Offsets. `threads`: uint32_t × n_threads, a mask's number or UINT32_MAX: as it was. */
	uint64_t threads, masks, pieces, objects;
	PlacementMask nodes; /* that pages are interleaved over */

	/* Answers; counted with atomic additions. */
	uint32_t pid;                /* of the program; 0: the library was not loaded */
	uint32_t n_created;          /* threads, the first included */
	uint32_t n_bound, n_unbound; /* of those that were to be bound */
	uint32_t bind_error;         /* errno of the last that failed */
	uint32_t n_policies, n_failed_policies, policy_error; /* mbind() */
} PlacementOrders;
