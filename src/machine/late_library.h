/* SPDX-License-Identifier: MIT */
/*
 * Loads shared libraries at the first call of one of their functions: few verbs need them, and with
 * their dependencies they take longer to load than lode to start.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	const char *name;
	void *target; /* of a pointer to the function, or to the object */
} LodeLateSymbol;

/*
 * Opens a library by its soname, "libcairo.so.2", and finds all symbols. It is never closed, as
 * such libraries register handlers and start threads. `flags` are those of dlopen(). Errors:
 * _UNSUPPORTED with the missing library or symbol (some targets may be set then); _IO if no file
 * can be opened.
 */
bool lode_late_library_open(const char *file, int flags, const LodeLateSymbol *symbols,
	size_t n_symbols, GError **error);
