/* SPDX-License-Identifier: MIT */
/* Where a variable lies, by the symbol tables of its file. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The variable of that linked name in an ELF file; of several (static ones of different files) the
 * first. `*out_address` is the one in the file. Errors: those
 * of opening the file; _NOT_FOUND.
 */
bool lode_variable_symbol_find(const char *path, const char *name, uint64_t *out_address,
	uint64_t *out_size, GError **error);
