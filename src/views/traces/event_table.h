/* SPDX-License-Identifier: MIT */
/* An event by instruction, function, line or data object, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/event_groups.h"
#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	uint32_t top; /* rows; 0: all */
} LodeEventTableOptions;

/* Errors: _IO. */
bool lode_event_table_write(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeEventTableOptions *options, FILE *out, GError **error);
