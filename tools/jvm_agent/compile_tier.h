/* SPDX-License-Identifier: MIT */
/*
 * Which of HotSpot's compilers made a method: 1 to 3 are C1's tiers, 4 is C2. JVMTI does not say.
 * HotSpot describes its own structs to debuggers (vmStructs.hpp); with that the header in front of
 * the code is read, through the kernel, so that a wrong address is no fault.
 */
#pragma once

#include <stdbool.h>

typedef struct {
	int tier;
	bool is_osr; /* entered in the middle of a loop */
} CompileTier;

/* False: it is not known, as of a virtual machine that describes its code in another way. */
bool compile_tier_read(CompileTier *self, const void *code);
