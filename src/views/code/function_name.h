/* SPDX-License-Identifier: MIT */
/* Names of functions, as long as there is room for. */
#pragma once

#include "model/profile.h"

/*
 * A long name without its parameters and template arguments, except short ones, for people:
 *
 *   lookups(std::map<int, long, std::less<int>, …> const&, int)    lookups(…)
 *   int visit<66>(std::vector<int, …> const&, unsigned)            int visit<66>(…)
 *   std::_Rb_tree<int, …>::_M_erase(…) [clone .isra.0]             std::_Rb_tree<…>::_M_erase(…)
 * [clone .isra.0]
 *
 * A name of up to 48 bytes, or one whose brackets do not match, stays as it is. The caller frees
 * the result.
 */
char *lode_function_name_short(const char *name);

/*
 * The file name of the shared library, as "libgcc_s.so.1", of a function that is only known by its
 * address; NULL for any other function. The caller frees the result.
 */
char *lode_function_library(const LodeProfile *profile, const LodeFunction *function);
