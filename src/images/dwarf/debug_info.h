/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the DWARF of one file, opened through libdw, and which unit holds an address.
 *
 * The compile units' address ranges are read once, at the first question. .debug_aranges is not
 * used: clang writes none, and a unit's own ranges say the same.
 */
#pragma once

#include "images/dwarf/split_package.h"
#include "images/elf/elf_file.h"

#include <elfutils/libdw.h>

typedef struct {
	uint64_t low, high;
	Dwarf_CU *unit;
} LodeUnitRange;

typedef struct {
	Dwarf *dwarf;
	LodeElfFile *supplement_file; /* NULL: none, or libdw finds it by itself */
	Dwarf *supplement;            /* of that file */
	GArray *ranges;               /* LodeUnitRange by low; NULL before the first question */
	char *path, *image_path;      /* of the file, and of the program that it belongs to */
	LodeSplitPackage *package; /* opened when a unit is in none of its own file; NULL: none */
	bool is_package_tried;
	const char *warning; /* a static phrase; NULL: nothing was found broken so far */
} LodeDebugInfo;

/*
 * Opens the debug information of `file`; NULL, with a static phrase in `out_warning`, when it is
 * broken. It reads from the file, which must stay open longer. `debug_directory` is where
 * supplementary files are looked for by build-id (NULL: libdw's own place). Units that compilers
 * split off are looked for in files of their own, and then in the package beside the file or beside
 * `image`, the program, which may be the same.
 */
LodeDebugInfo *lode_debug_info_open(const LodeElfFile *file, const LodeElfFile *image,
	const char *debug_directory, const char **out_warning);
void lode_debug_info_close(LodeDebugInfo *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDebugInfo, lode_debug_info_close)

/* The range of a compile unit that an address is in; NULL: none. */
const LodeUnitRange *lode_debug_info_find(LodeDebugInfo *self, uint64_t address);

/* The root of a unit's tree, in its split file or package where it has one; false when it is
 * broken. */
bool lode_debug_info_unit_die(LodeDebugInfo *self, Dwarf_CU *unit, Dwarf_Die *out_die);
