/* SPDX-License-Identifier: MIT */
/* Samples in groups, and in groups of these: what a pivot found, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/pivot.h"
#include "views/format.h"
#include "views/memory_notes.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const LodeMemoryNotes *notes;
} LodeMemoryPivotOptions;

/*
 * JSON nests nothing: a row has its level, and the names of the rows above it. CSV has a column for
 * each level. Addresses are text like "0x7f00", since a number there keeps 53 bits only. Errors:
 * _IO.
 */
bool lode_memory_pivot_write(const LodeProfile *profile, const LodePivot *pivot,
	const LodeMemoryPivotOptions *options, FILE *out, GError **error);
