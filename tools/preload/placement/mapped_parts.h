/* SPDX-License-Identifier: MIT */
/* The mappings of this process, from /proc/self/maps, read without allocating memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end;
	const char *name; /* "" for none; a long one is cut short; valid during the call */
} MappedPart;

/* Calls `visit` for each mapping, by address. */
void mapped_parts_visit(void (*visit)(const MappedPart *part, void *data), void *data);
