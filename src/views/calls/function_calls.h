/* SPDX-License-Identifier: MIT */
/* The direct callers and callees of a function, with what came through their calls, and the user's
 * own lines from which it is called. */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *name; /* of the function, or its number in the profile, or NAME@0xADDRESS */
	bool has_callers, has_callees; /* which of them; JSON has both */
	uint32_t limit;                /* of each; 0: all */
	const char *const *own;        /* see lode_own_lines_new() */
} LodeFunctionCallsOptions;

/*
 * Writes to `out`; all costs are shares of the event's total. An inlined function has a name here,
 * and its callers, if stacks were recorded. Errors: _NOT_FOUND (no such function, with the nearest
 * name; in text, no calls were recorded), _USAGE (a name that several functions have: lists them),
 * _IO.
 */
bool lode_function_calls_write(const LodeProfile *profile, uint32_t event,
	const LodeFunctionCallsOptions *options, FILE *out, GError **error);
