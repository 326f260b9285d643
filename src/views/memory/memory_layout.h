/* SPDX-License-Identifier: MIT */
/* A type's members in order with what happened to each, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/type_layout.h"
#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;

/* `layouts` is what lode_type_layout_find() gives. Errors: _IO. */
bool lode_memory_layout_write(const LodeProfile *profile, const GPtrArray *layouts,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
