/* SPDX-License-Identifier: MIT */
/* Cache lines that threads share, as a table, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/line_sharing.h"
#include "views/form/format.h"
#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	uint32_t limit;             /* lines shown; 0: all */
	bool are_misses_classified; /* it is of a trace's misses due to sharing, be there any */
	const LodeMemoryNotes *notes;
} LodeMemorySharingOptions;

/* CSV has a row for each access, with the columns of its line before its own, and of misses after
 * them those of the store that took the line away most often. Errors: _IO. */
bool lode_memory_sharing_write(const LodeProfile *profile, const LodeLineSharing *sharing,
	const LodeMemorySharingOptions *options, FILE *out, GError **error);
