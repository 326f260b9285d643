/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: all functions of an image, sorted and disjoint.
 *
 *   symbols (best one of an address) ─▶ unwind ranges no symbol covers ─▶ code nothing covers
 */
#pragma once

#include "images/binary_image.h"
#include "images/elf_file.h"

/*
 * Consumes nothing: `symbols` (LodeSymbol) and `unwind` (LodeUnwindRange) are sorted in place, the
 * result (LodeBinaryFunction) borrows their symbols' text, other names are kept in `names`.
 */
GArray *lode_function_table_build(
	const LodeElfFile *file, GArray *symbols, GArray *unwind, GStringChunk *names);
