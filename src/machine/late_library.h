/* SPDX-License-Identifier: MIT */
/*
 * Shared libraries that few verbs need and that take longer to load than lode to start, with all
 * that they need in turn: opened when one of their functions is about to be called.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	const char *name;
	void *target; /* of a pointer to the function, or to the object */
} LodeLateSymbol;

/*
 * Opens a library by the name that programs linked with it would know it by, "libcairo.so.2", and
 * finds all symbols. It stays open: what libraries like these register or start cannot be undone.
 * `flags` are those of dlopen(). Errors: _UNSUPPORTED, says which library or symbol is missing;
 * some targets may be set then; _IO where no file can be opened.
 */
bool lode_late_library_open(const char *file, int flags, const LodeLateSymbol *symbols,
	size_t n_symbols, GError **error);
