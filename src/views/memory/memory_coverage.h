/* SPDX-License-Identifier: MIT */
/* The share of the samples that have an address, by rule, and that have a name, by layer. */
#pragma once

#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;

/*
 * `coverage` is what lode_memory_coverage_new() gives. CSV has the columns event,section,name and
 * those of every view of memory samples; sections are "total", "rule", "reason", "named" (by the
 * first layer that answered) and "known" (by any). Errors: _IO.
 */
bool lode_memory_coverage_write(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
