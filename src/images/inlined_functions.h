/* SPDX-License-Identifier: MIT */
/* Private to images/: which function was inlined at an address, for the addresses of one unit. */
#pragma once

#include "images/binary_image.h"

#include <elfutils/libdw.h>

/*
 * Sets `inlined` of the locations whose address (ascending) lies in an inlined function of that
 * unit; of nested ones the innermost. All of them are appended to `calls` (LodeInlinedCall, with
 * the address's index among these), the innermost first; NULL: not wanted. Names are kept in
 * `names`.
 */
void lode_inlined_functions_find(Dwarf_Die *unit, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *locations, GArray *calls, GStringChunk *names);
