/* SPDX-License-Identifier: MIT */
/*
 * Places in code by name, with the functions inlined there: each place is named once, and all of an
 * image in the order of their addresses, so that its lines are read in one pass.
 */
#pragma once

#include "process/call_chain.h"

typedef struct LodeCodeNames LodeCodeNames;

/* Strings are the images'. */
typedef struct {
	LodePlace code;
	const char *function; /* NULL: unknown */
	LodeBinaryLocation location;
	const LodeInlinedCall *inlined; /* the innermost first */
	uint32_t n_inlined;
} LodeCodeName;

/* Borrows the images. */
LodeCodeNames *lode_code_names_new(LodeCodeImages *images);
void lode_code_names_free(LodeCodeNames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodeNames, lode_code_names_free)

/* The number of a place, added when new. */
uint32_t lode_code_names_add(LodeCodeNames *self, const LodePlace *code);

/* Names all places; none may be added afterwards. */
void lode_code_names_find(LodeCodeNames *self);

/* A place that has been named; valid as long as the names. */
const LodeCodeName *lode_code_names_at(const LodeCodeNames *self, uint32_t place);
