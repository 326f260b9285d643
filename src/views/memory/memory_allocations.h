/* SPDX-License-Identifier: MIT */
/* Where memory was allocated, and the calls that led there, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/allocation_use.h"
#include "views/memory/memory_notes.h"

/* Errors: _IO. */
bool lode_memory_allocations_write(const LodeProfile *profile, const LodeAllocationUse *use,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
