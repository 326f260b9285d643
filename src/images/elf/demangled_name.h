/* SPDX-License-Identifier: MIT */
/* Private to images/: names as a person writes them, from C++, Rust and D symbols. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether a symbol begins as a compiler of these languages writes them. */
bool lode_is_mangled_name(const char *symbol);

/*
 * The demangled name without a symbol version ("memcpy@@GLIBC_2.14" gives "memcpy"), always valid
 * UTF-8. Interned in `names`, or `symbol` itself where nothing is to be done.
 */
const char *lode_demangled_name(const char *symbol, GStringChunk *names);
