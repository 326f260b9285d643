/* SPDX-License-Identifier: MIT */
/*
 * Facts of code that its bytes tell: loops that handle one bit at a time, numbers in memory that
 * are changed in place, copies of structures, and branches whose way is not in the profile.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/* Adds LODE_CODE_STORED, _COUNTER, _BITS, _BLOCK, _COPY and _GLOBAL to the facts. */
void lode_code_shapes_find(LodeCostedCode *code);

/* The instruction of the same function that a conditional branch leads to, where the profile has
 * both ways' instructions, but no such edge; LODE_NONE: there is none. */
uint32_t lode_code_shapes_hidden_target(const LodeCostedCode *code, uint32_t branch);
