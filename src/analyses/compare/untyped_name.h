/* SPDX-License-Identifier: MIT */
/* Names of functions without types, by which a function is the same although a type in its name is
 * another. Private to analyses/compare/. */
#pragma once

#include <stdbool.h>

/*
 * The name without types of parameters, template arguments, the type of the result, and Rust's hash
 * of a build:
 *
 *   int visit<66>(std::vector<int> const&)     visit
 *   A::operator<(A const&) const               A::operator< const
 *   core::slice::sort::h0123456789abcdef       core::slice::sort
 *
 * `out_has_types` says whether anything of that was there. NULL: the brackets do not match, or
 * nothing is left that names it ("<T as Clone>::clone"). The caller frees the result.
 */
char *lode_untyped_name(const char *name, bool *out_has_types);
