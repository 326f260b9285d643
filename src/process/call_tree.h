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

/* Whether a call is a function of the kernel: by its name, or by its place in the kernel's image,
 * where samples were. */
static inline bool lode_call_is_in_kernel(const LodeCall *self, const LodeCodeImages *images)
{
	if (self->code.image == LODE_CALLER_IN_KERNEL || self->code.image == LODE_NONE)
		return self->code.image == LODE_CALLER_IN_KERNEL;
	return lode_code_images_peek(images, self->code.image)->kind == LODE_IMAGE_KERNEL;
}
