/* SPDX-License-Identifier: MIT */
/*
 * Which of HotSpot's compilers made a method: 1 to 3 are C1's tiers, 4 is C2. JVMTI does not say.
 * The header in front of the code is read, as vm_structs.h says where its members are.
 */
#pragma once

#include <stdbool.h>

typedef struct {
	int tier;
	bool is_osr; /* entered in the middle of a loop */
} CompileTier;

/* False: it is not known, as of a virtual machine that describes its code in another way. */
bool compile_tier_read(CompileTier *self, const void *code);
