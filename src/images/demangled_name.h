/* SPDX-License-Identifier: MIT */
/* Private to images/: names as a person writes them, from C++ and Rust symbols. */
#pragma once

#include <glib.h>

/*
 * The demangled name without a symbol version ("memcpy@@GLIBC_2.14" gives "memcpy"), always valid
 * UTF-8. Interned in `names`, or `symbol` itself where nothing is to be done.
 */
const char *lode_demangled_name(const char *symbol, GStringChunk *names);
