/* SPDX-License-Identifier: MIT */
/*
 * A compare and the conditional branch right after it, which most processors execute as one
 * operation: a counter may charge what happens to it to either of the two, and so does a sample.
 *
 *   cmp eax, 7   ┐ one operation: mispredicted 40 times, of which 38 are charged here
 *   jne …        ┘                                               2 here
 */
#pragma once

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The other one of a `cmp` or `test` and the conditional branch after it, of the same function;
 * LODE_NONE: the instruction is neither. By its attributes and addresses. */
uint32_t lode_fused_with(const LodeProfile *profile, uint32_t instruction);

/* An event's value of the instruction, and of the one that it is fused with. */
double lode_fused_event_value(const LodeProfile *profile, uint32_t event, uint32_t instruction);
