/* SPDX-License-Identifier: MIT */
/* The call chains of many samples; those that begin alike, at main(), share calls. */
#pragma once

#include "base/arrays/id_cache.h"
#include "process/call_chain.h"

typedef struct {
	LodePlace code;
	uint32_t outer; /* the call that led there, an index before it; LODE_NONE */
} LodeCall;

typedef struct {
	GArray *calls;       /* LodeCall, no two equal */
	LodeIdCache ids;     /* private */
	uint64_t n_left_out; /* calls for which there was no room */
} LodeCallTree;

void lode_call_tree_init(LodeCallTree *self);
void lode_call_tree_clear(LodeCallTree *self);

/* The call at `code` that `outer` led to; LODE_NONE: there is no room. */
uint32_t lode_call_tree_add(LodeCallTree *self, uint32_t outer, const LodePlace *code);

/* The innermost call of a chain (LodePlace, the innermost first); LODE_NONE: it is empty, or there
 * is no room. */
uint32_t lode_call_tree_add_chain(LodeCallTree *self, const GArray *chain);
