/* SPDX-License-Identifier: MIT */
/* The call chains of many samples; those that begin alike, at main(), share calls.
 * Made by ingest/sampled/sampled_stacks.h. */
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
