/* SPDX-License-Identifier: MIT */
/*
 * One type, its members in order, and what happened to each:
 *
 *   line 0  (bytes 0-63)    90 %
 *     0  8  next            70 %     the hottest
 *     8  4  key             20 %     shares its line
 *    12  4  (hole)
 *   line 1  (bytes 64-127)
 *    64  8  name             0 %     nothing was sampled here
 *
 * Lines are those of an object that begins at a line's boundary.
 */
#pragma once

#include <glib.h>

#include "analyses/memory/access_totals.h"
#include "base/progress.h"

typedef struct LodeDataMember LodeDataMember;
typedef struct LodeDataType LodeDataType;
typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_LAYOUT_LINE, /* a cache line begins: what the members that begin in it add up to */
	LODE_LAYOUT_MEMBER,
	LODE_LAYOUT_HOLE,      /* bytes or bits that no member has */
	LODE_LAYOUT_PADDING,   /* a hole at the end */
	LODE_LAYOUT_NO_MEMBER, /* accesses to the type, but to no member of it */
} LodeLayoutRowKind;

typedef struct {
	const char *level; /* "L1"…; static */
	double weight;
} LodeLevelWeight;

typedef struct {
	LodeLayoutRowKind kind;
	const LodeDataMember *member;  /* of MEMBER; borrowed from the profile */
	uint64_t offset, size;         /* bytes; of a hole those it begins in and touches whole */
	uint32_t bit_offset, bit_size; /* of a bit field, or a hole of less than a byte; size 0 */
	uint64_t first_line, last_line;
	bool is_beside_hottest; /* shares a line with the hottest member */
	double wide_weight;     /* of accesses that begin here and reach into what follows */
	LodeAccessTotals totals;
	GArray *levels; /* LodeLevelWeight, the heaviest first; NULL: none were recorded */
} LodeLayoutRow;

typedef struct {
	uint32_t number; /* in LodeMemory.types */
	const LodeDataType *type;
	LodeAccessTotals total; /* of the type */
	double all_weight;      /* of all chosen accesses, of whatever type */
	double untyped_weight;  /* of those of no known type, with or without an address: some may
	                           be to this type */
	uint32_t hottest;       /* row; LODE_NONE: nothing was sampled */
	uint64_t hole_bytes;    /* with the padding; bits apart */
	GArray *rows;           /* LodeLayoutRow */
} LodeTypeLayout;

typedef struct {
	const char *type; /* a name, with or without "struct " before it */
	const LodeProgress *progress;
} LodeTypeLayoutOptions;

/*
 * The layouts of all types of this name, as GPtrArray of LodeTypeLayout; the caller unrefs it.
 * `samples` are numbers, ascending. Errors: _NOT_FOUND, with the types that have a similar name;
 * _CANCELLED.
 */
GPtrArray *lode_type_layout_find(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeTypeLayoutOptions *options, GError **error);
