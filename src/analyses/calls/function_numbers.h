/* SPDX-License-Identifier: MIT */
/* The numbers of a profile's functions by name and image, for frames of its stacks. */
#pragma once

#include "base/arrays/id_cache.h"

#include <glib.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeIdCache known;
} LodeFunctionNumbers;

void lode_function_numbers_init(LodeFunctionNumbers *self, const LodeProfile *profile);
void lode_function_numbers_clear(LodeFunctionNumbers *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFunctionNumbers, lode_function_numbers_clear)

/* Both are strings of the profile, or NULL. LODE_NONE: the profile has no code of it. */
uint32_t lode_function_numbers_find(LodeFunctionNumbers *self, const char *name, const char *image);
