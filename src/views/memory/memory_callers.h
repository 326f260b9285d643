/* SPDX-License-Identifier: MIT */
/* The calls that lead to the accesses of each data object, as text, JSON or CSV. */
#pragma once

#include "analyses/memory/objects/access_callers.h"
#include "views/memory/memory_notes.h"

/* Errors: _IO. */
bool lode_memory_callers_write(const LodeProfile *profile, const LodeAccessCallers *callers,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
