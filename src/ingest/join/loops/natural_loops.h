/* SPDX-License-Identifier: MIT */
/*
 * The natural loops of a function's executed code, one at a time: the head, and all that leads to a
 * back edge without it (Aho et al., "Compilers", 2nd edition, section 9.6).
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/attributes/dependence_search.h"

/* The loop at hand. */
typedef struct {
	const LodeDependenceGraph *graph; /* borrowed */
	GArray *body;                     /* uint32_t: nodes, the head first */
	/* Private. */
	GArray *marks; /* uint32_t × nodes: 1 + number of the loop that holds it */
	uint32_t n_loops;
} LodeNaturalLoop;

void lode_natural_loop_init(LodeNaturalLoop *self);
void lode_natural_loop_clear(LodeNaturalLoop *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeNaturalLoop, lode_natural_loop_clear)

/* Begins a function, which has no loop at hand yet. */
void lode_natural_loop_begin(LodeNaturalLoop *self, const LodeDependenceGraph *graph);

/* Takes the loop of a head. False: no back edge was taken. */
bool lode_natural_loop_find(LodeNaturalLoop *self, uint32_t head);

static inline bool lode_natural_loop_has(const LodeNaturalLoop *self, uint32_t node)
{
	return g_array_index(self->marks, uint32_t, node) == self->n_loops;
}

/* Whether there are loops inside. */
bool lode_natural_loop_has_inner(const LodeNaturalLoop *self);
