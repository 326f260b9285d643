/* SPDX-License-Identifier: MIT */
/* The costs of a profile's functions by one event: alone, by families, and as services. */
#pragma once

#include "analyses/calls/services.h"

typedef struct {
	LodeFunctionCosts *costs;
	LodeFamilies *families;
	GArray *family_costs; /* LodeFamilyCost, as of lode_families_costs() */
	uint32_t *family_of;  /* of each of the costs' functions, or LODE_NONE */
	LodeServices *services;
} LodeCostedFunctions;

/* `event` is of any kind, or LODE_NONE. `own`: see lode_own_lines_new(). Borrows the profile. Never
 * NULL. */
LodeCostedFunctions *lode_costed_functions_new(
	const LodeProfile *profile, uint32_t event, const char *const *own);
void lode_costed_functions_free(LodeCostedFunctions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCostedFunctions, lode_costed_functions_free)
