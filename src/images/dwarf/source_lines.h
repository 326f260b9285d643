/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: source lines and inlined functions from DWARF, through libdw.
 *
 * A line table and the tree of inlined functions are read only for a unit that an address falls
 * into.
 */
#pragma once

#include "images/dwarf/debug_info.h"
#include "images/elf/binary_image.h"
#include "images/elf/elf_file.h"

typedef struct LodeSourceLines LodeSourceLines;

/* Reads from `info`, which must outlive the result. */
LodeSourceLines *lode_source_lines_new(LodeDebugInfo *info);
void lode_source_lines_free(LodeSourceLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSourceLines, lode_source_lines_free)

/* Whether the file holds a line table at all. */
bool lode_source_lines_exist(const LodeElfFile *file);

/* The fault found so far, a static phrase; NULL: none. */
const char *lode_source_lines_warning(const LodeSourceLines *self);

/* As lode_binary_image_locate_calls(); every output is set; `calls` NULL: not wanted. */
void lode_source_lines_locate(LodeSourceLines *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls);

/* As lode_binary_image_scopes(). */
void lode_source_lines_scopes(
	LodeSourceLines *self, const uint64_t *addresses, size_t n, GArray *out_scopes);
