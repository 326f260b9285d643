/* SPDX-License-Identifier: MIT */
/*
 * Which calls lead to the accesses of each data object:
 *
 *   object             struct node.next          60 %   level 0
 *     accessing code     find    list.c:12       45 %   level 1
 *       its callers        lookup  list.c:40     45 %   level 2
 *                   …        main    main.c:9    30 %   level 3
 *     accessing code     push    list.c:55       15 %   level 1
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_ACCESS_ROW_OBJECT,
	LODE_ACCESS_ROW_CALL,   /* the access, and then its callers */
	LODE_ACCESS_ROW_OTHERS, /* what a limit cut off, together */
} LodeAccessRowKind;

typedef struct {
	LodeAccessRowKind kind;
	uint32_t level;
	uint32_t object;   /* of its name; LODE_NONE: samples without an object */
	uint32_t call;     /* LodeAccessCall; LODE_NONE: an object, or others */
	uint32_t n_others; /* of OTHERS */
	uint64_t n_samples;
	double weight;
} LodeAccessCallersRow;

typedef struct {
	uint32_t n_callers; /* levels above the access */
	uint32_t top;       /* objects; 0: all */
	uint32_t top_calls; /* of one object or call; 0: all */
} LodeAccessCallersOptions;

typedef struct {
	GArray *rows; /* LodeAccessCallersRow, the heaviest first, callers below the called function
	               */
	double weight;
	double weight_without; /* of samples whose callers are not known */
} LodeAccessCallers;

/* `samples` are numbers, ascending; page faults have no weight here. Errors: _NOT_FOUND where no
 * call chains were recorded, which says how they are. */
LodeAccessCallers *lode_access_callers_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeAccessCallersOptions *options, GError **error);
void lode_access_callers_free(LodeAccessCallers *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAccessCallers, lode_access_callers_free)
