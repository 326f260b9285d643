/* SPDX-License-Identifier: MIT */
/*
 * Where a profile comes from: the runs that were recorded. An imported profile has one origin; one
 * that was merged has those of all, and with them what each gave:
 *
 *   instruction.count = Σ over origins of their counts of it, and so for edges and costs
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Strings are the profile's. */
typedef struct {
	char *name;           /* among the origins of a merged profile; NULL in an imported one */
	char *host;           /* where it ran; NULL: unknown */
	char *program;        /* the command line; NULL: unknown */
	uint32_t pid;         /* of the first process; 0: unknown */
	uint64_t recorded_at; /* seconds since 1970, of the recording's file; 0: unknown */
	double n_samples;     /* as in the profile, of this origin alone */
	double total_count;
} LodeOrigin;

typedef struct {
	uint32_t origin, instruction;
	double count, next_count; /* −1 without such an edge, as in the profile */
} LodeOriginCount;

typedef struct {
	uint32_t origin, instruction, event;
	double value;
} LodeOriginCost;

typedef struct {
	uint32_t origin, edge;
	double count;
} LodeOriginEdge;

typedef struct {
	uint32_t origin, event;
	double value; /* the event's total */
} LodeOriginTotal;

/* The contributions of each origin; rows by origin, then by instruction, event or edge. */
typedef struct LodeOriginParts {
	GArray *counts; /* LodeOriginCount; of instructions that it executed or that cost it */
	GArray *costs;  /* LodeOriginCost */
	GArray *edges;  /* LodeOriginEdge */
	GArray *totals; /* LodeOriginTotal */
} LodeOriginParts;

/* Empty; never NULL. */
LodeOriginParts *lode_origin_parts_new(void);
void lode_origin_parts_free(LodeOriginParts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOriginParts, lode_origin_parts_free)
