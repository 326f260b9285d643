/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: functions and lines by the table that Go's linker puts into each program for
 * its own tracebacks, and leaves in stripped ones: .gopclntab.
 */
#pragma once

#include "images/elf/binary_image.h"
#include "images/elf/elf_file.h"

typedef struct LodeGoFunctions LodeGoFunctions;

/* NULL: the file has no such table. It borrows from the file. */
LodeGoFunctions *lode_go_functions_open(const LodeElfFile *file);
void lode_go_functions_free(LodeGoFunctions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeGoFunctions, lode_go_functions_free)

/* Appends all functions to `symbols` (LodeSymbol); their names are borrowed from the file. */
void lode_go_functions_add(const LodeGoFunctions *self, GArray *symbols);

/* Sets file and line of `n` addresses in ascending order, as lode_binary_image_locate(). */
void lode_go_functions_locate(LodeGoFunctions *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations);
