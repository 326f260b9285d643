/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: source lines and inlined functions from DWARF, through libdw.
 *
 * The compile units' address ranges are read once; a line table and the tree of inlined functions
 * only for a unit that an address falls into. .debug_aranges is not used: clang writes none, and a
 * unit's own ranges say the same.
 */
#pragma once

#include "images/binary_image.h"
#include "images/elf_file.h"

typedef struct LodeSourceLines LodeSourceLines;

/*
 * Opens the debug information of `file`, which must outlive the result; NULL, with a static phrase
 * in `out_warning`, when it is broken. `debug_directory` is where supplementary files are looked
 * for by build-id (NULL: libdw's own place).
 */
LodeSourceLines *lode_source_lines_new(
	const LodeElfFile *file, const char *debug_directory, const char **out_warning);
void lode_source_lines_free(LodeSourceLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSourceLines, lode_source_lines_free)

/* Whether the file holds a line table at all. */
bool lode_source_lines_exist(const LodeElfFile *file);

/* What was found broken so far, a static phrase; NULL: nothing. */
const char *lode_source_lines_warning(const LodeSourceLines *self);

/* As lode_binary_image_locate(); every output is set. */
void lode_source_lines_locate(LodeSourceLines *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations);
