/* SPDX-License-Identifier: MIT */
/* How the name that a user types is compared with the names of functions. Private to views/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The strictest first: the functions that are meant are those that pass the first test that any
 * function passes. */
typedef enum {
	LODE_NAME_WHOLE,     /* or the name as linked */
	LODE_NAME_SHORT,     /* as lode_function_name_short() gives it */
	LODE_NAME_LAST_WORD, /* "find" of Cache::find(int), not of Cache::find(int)::{lambda()#1} */
	LODE_NAME_WORD,      /* "step" of work::step(int) and __grids_MOD_step, not of step_2 */
	LODE_NAME_PART,
	LODE_NAME_WORD_IN_ANY_CASE, /* compilers of Fortran, Ada and Pascal write names in one
	                               case, whatever the source has */
	LODE_NAME_PART_IN_ANY_CASE,
	LODE_N_NAME_TESTS,
} LodeNameTest;

/* `symbol`: the name as linked; NULL: none. */
bool lode_name_passes(LodeNameTest test, const char *name, const char *symbol, const char *text);

/* The "work" and the address of "work@0x1139", one of several functions with that name. The caller
 * frees the name; NULL: the text is not of this form. */
char *lode_name_at_address(const char *text, uint64_t *out_address);
