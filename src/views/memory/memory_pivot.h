/* SPDX-License-Identifier: MIT */
/* Samples in groups, and in groups of these: what a pivot found, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/pivot.h"
#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;

/*
 * JSON nests nothing: a row has its level, and the names of the rows above it. CSV has a column for
 * each level. Addresses are text like "0x7f00", since a number there keeps 53 bits only. Errors:
 * _IO.
 */
bool lode_memory_pivot_write(const LodeProfile *profile, const LodePivot *pivot,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
