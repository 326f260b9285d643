/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the maps of Go, which the runtime allocates and searches for all types by the
 * same functions.
 *
 *   lea  rax, [descriptor of map[string]int]        the type, by which DWARF names the bucket
 *   mov  rbx, [counts]                              header: struct hash<string,int>
 *   call runtime.mapaccess1_faststr ──▶ rax         value: struct bucket<string,int>.values[]
 *
 * A bucket has eight hashes ("tophash[]"), keys and values, and a pointer to a further bucket. This
 * is Go up to 1.23; the maps of later versions, which have groups in place of buckets, stay
 * without.
 */
#pragma once

#include "images/types/data_place.h"

/* Types of the table. */
typedef struct {
	uint32_t header, bucket; /* "hash<string,int>", "bucket<string,int>" */
	uint32_t value;
	bool has_values_elsewhere; /* large ones: the bucket has pointers to them */
} LodeGoMap;

/* The member at a place, "main.table.rows", if it is a map; else NULL. Borrowed from the types. */
const char *lode_go_map_owner(const LodeFunctionContext *context, const LodeDataPlace *place);

/* The map whose type's descriptor is a function's first argument; false: it is none, or not known.
 */
bool lode_go_map_find(
	const LodeFunctionContext *context, const LodeHeldValue *descriptor, LodeGoMap *out_map);

/* The pointer to a value in a map that the function at `target` returns, which gets the two
 * arguments; NONE. */
LodeHeldValue lode_go_map_result(const LodeFunctionContext *context,
	const LodeHeldValue *descriptor, const LodeHeldValue *header, uint64_t target);

/* The member of a map's header or bucket that the runtime's own type of the same part has:
 * "struct runtime.bmap" and "tophash[]". False: it is of neither. */
bool lode_go_map_member(const LodeFunctionContext *context, const LodeGoMap *map,
	const LodeGoMapView *view, uint32_t *out_type, const LodeTypeField **out_field);
