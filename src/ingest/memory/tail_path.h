/* SPDX-License-Identifier: MIT */
/* Private to ingest/: functions that a call stack lacks because they ended in a jump. */
#pragma once

#include "ingest/memory/allocator_names.h"
#include "process/images/code_images.h"

enum { LODE_MAX_TAIL_PATH = 4 };

typedef struct {
	uint64_t jumps[LODE_MAX_TAIL_PATH]; /* their addresses in the image, innermost first */
	size_t n;
	bool is_unknown; /* functions are missing, but the jumps were not found */
} LodeTailPath;

/* A call of the program's that leads to the next inner function on the stack. */
typedef struct {
	const LodeAllocatorNames *names;
	const LodeCodeImage *image;
	uint64_t return_address;         /* of the call, in the image */
	const LodeBinaryFunction *inner; /* NULL: an allocator, by one of its names */
	bool is_inner_of_runtime;        /* its functions have several names each */
} LodeTailQuestion;

/*
 * The jumps between the call and the inner function, found in the code of the function that the
 * call names; the first path if there are several. None for a call through a pointer.
 */
LodeTailPath lode_tail_path_find(const LodeTailQuestion *question);
