/* SPDX-License-Identifier: MIT */
/*
 * Functions that one profile has as functions, and the other as code that is inlined in others: so
 * that what a compiler inlines is neither gone nor new. Private to analyses/compare/.
 */
#pragma once

#include "analyses/compare/function_pairs.h"

/*
 * For each instruction of `profiles[side]` the function of the other profile that it counts for, as
 * it is inlined from there: of the functions inlined at the instruction the innermost that the
 * other profile has as a function without a partner, by its name without types, and has it once;
 * LODE_NONE: it counts for its own function. The caller frees the array.
 */
uint32_t *lode_inlined_functions_find(
	const LodeProfile *const profiles[2], const LodeFunctionPairs *pairs, int side);
