/* SPDX-License-Identifier: MIT */
/* Lines of the user's own scripts, each with all that it leads to, in scripts and native code. */
#pragma once

#include "analyses/calls/function_costs.h"

typedef struct {
	uint32_t function; /* of LodeFunctionCosts */
	uint32_t line;     /* of the function's file */
	const char *file;  /* the profile's */
	double cost;       /* of the costs' event */
} LodeScriptLine;

/* Of each stack of the profile the innermost line of the user's own scripts, as a stack; LODE_NONE:
 * there is none. Only with stacks. The caller frees it. */
uint32_t *lode_script_lines_owners(const LodeFunctionCosts *costs);

/* Each sample counts for one line, but none in an extension module that is of no family
 * (lode_families_costs()): no interpreter executes what that does. By function and line; empty
 * where there are no scripts. The caller unrefs it. */
GArray *lode_script_lines_costs(const LodeFunctionCosts *costs, const uint32_t *family_of);
