/* SPDX-License-Identifier: MIT */
/* Where functions and variables lie, by the symbol tables of their file. Names are as linked. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Appends the offsets in the file (uint64_t) of the functions of that name: static functions of
 * several sources are several. A resolver that chooses a function when the program is loaded (an
 * indirect function) is left out. A stripped file without a separate debug file has only its
 * exported functions. Errors: those of opening the file.
 */
bool lode_named_symbol_functions(
	const char *path, const char *name, GArray *out_offsets, GError **error);

/* The address in the file of the variable of that name, and its size; of several (static ones of
 * different sources) the first. Errors: those of opening the file; _NOT_FOUND. */
bool lode_named_symbol_variable(const char *path, const char *name, uint64_t *out_address,
	uint64_t *out_size, GError **error);
