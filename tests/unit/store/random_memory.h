/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/profile.h"

typedef struct LodeMemory LodeMemory;

/* Gives a profile a memory that uses every field. */
void random_memory_add(LodeProfile *profile, GRand *rand);

/* Ends the test at the first field that differs; both may be NULL. */
void assert_equal_memories(const LodeMemory *a, const LodeMemory *b);
