/* SPDX-License-Identifier: MIT */
/*
 * Which functions of two profiles are the same one, and which of their instructions.
 *
 * In this order, each with what is left over by those before:
 *
 *   1. same address in a file of the same build-id;
 *   2. same name in an image of the same file name, without the part after ".so"; 3. same name,
 * where each profile has it once: the program may be called differently;
 *   4. the same without the compilers' suffixes (".constprop.0"), likewise;
 *   5. the same without types of parameters, template arguments, the result, and the hash of a
 * build (Rust), in an image of the same file name; of several, by LODE_PAIR_LIKENESS of their code;
 *   6. same mnemonics at the same address, where each profile has them there once;
 *   7. same mnemonics, where each profile has them once, at least LODE_PAIR_MIN_EQUAL of them;
 *   8. alike by their code: at least LODE_PAIR_LIKENESS, in functions of at
 *      least LODE_PAIR_MIN_INSTRUCTIONS, and by LODE_PAIR_MARGIN more than to any other that is
 *      left. A function that is as near to two has no partner, as either could be wrong.
 *
 * Names that were made from addresses do not count as names.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

#define LODE_PAIR_LIKENESS 0.6
#define LODE_PAIR_MARGIN 0.1
enum { LODE_PAIR_MIN_INSTRUCTIONS = 12, LODE_PAIR_MIN_EQUAL = 6 };

typedef struct {
	uint32_t functions[2]; /* of each profile; LODE_NONE: it has none that is the same */
	double likeness;       /* of their code, where that is what they were matched by; else 0 */
	bool is_same_code;     /* both have the same code, but for addresses */
	bool is_other_code;    /* they have not; neither: that of one is not known */
} LodeFunctionPair;

typedef struct {
	GArray *pairs;          /* LodeFunctionPair: those of the first profile in its order, then
	                           those that only the second one has */
	uint32_t *counterparts; /* [instructions of the first]: that of the second; LODE_NONE */
} LodeFunctionPairs;

/* The caller frees the result; it does not refer to the profiles. NULL: cancelled. */
LodeFunctionPairs *lode_function_pairs_new(
	const LodeProfile *const profiles[2], const LodeProgress *progress);
void lode_function_pairs_free(LodeFunctionPairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFunctionPairs, lode_function_pairs_free)
