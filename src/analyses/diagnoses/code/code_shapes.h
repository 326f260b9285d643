/* SPDX-License-Identifier: MIT */
/*
 * Facts of code that its bytes tell: loops that handle one bit at a time, numbers in memory that
 * are changed in place, copies of structures, branches whose way is not in the profile, and how
 * loops go over memory.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/* Adds LODE_CODE_STORED, _COUNTER, _BITS, _BLOCK, _COPY, _GLOBAL and _ACROSS to the facts;
 * _DENSE must be known. */
void lode_code_shapes_find(LodeCostedCode *code);

/*
 * Finds the bytes of an iteration that each loop may move from and to memory: of LodeLoop's, those
 * but of accesses that stay in a line or in the first level (address:invariant, stride:0,
 * spread:first-level). The loops of instructions must be known.
 */
void lode_code_shapes_find_bytes(LodeCostedCode *code);

/* The bytes of an instruction, borrowed from the profile; NULL: not known. */
const uint8_t *lode_code_bytes(const LodeProfile *profile, uint32_t at, size_t *out_size);

/* The instruction of the same function that a conditional branch leads to, where the profile has
 * both ways' instructions, but no such edge; LODE_NONE: there is none. */
uint32_t lode_code_shapes_hidden_target(const LodeCostedCode *code, uint32_t branch);

/* Adds LODE_CODE_SEARCH (searches.c). */
void lode_code_shapes_find_searches(LodeCostedCode *code);
