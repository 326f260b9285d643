/* SPDX-License-Identifier: MIT */
/* Where a function begins, by the symbol tables of its file. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Appends where in the file (uint64_t, offsets) the functions of that linked name stand: static
 * ones of several sources are several. What only chooses a function when the program is loaded (an
 * indirect function) is none. A stripped file without a separate debug file has only those that it
 * offers to others. Errors: those of opening the file.
 */
bool lode_function_symbol_find(
	const char *path, const char *name, GArray *out_offsets, GError **error);
