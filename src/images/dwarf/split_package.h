/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: a package of split debug information (.dwp), which holds the units that
 * compilers wrote into .dwo files: DWARF 5, section 7.3.5, and its forerunner for DWARF 4 by GNU.
 */
#pragma once

#include <elfutils/libdw.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeSplitPackage LodeSplitPackage;

/*
 * Opens the package at `path` for the skeleton units of `skeletons`. NULL when there is no such
 * file, or, with a static phrase in *out_warning, when it cannot be read: it is not one for 64-bit
 * little-endian machines, is compressed, or is broken. Units in the 64-bit format of DWARF are left
 * out.
 */
LodeSplitPackage *lode_split_package_open(
	const char *path, Dwarf *skeletons, const char **out_warning);
void lode_split_package_close(LodeSplitPackage *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSplitPackage, lode_split_package_close)

/* The root of the unit that a skeleton of that id stands for, as if it were a whole unit of its
 * own; files that it numbers are those of the skeleton's line table. False: none. */
bool lode_split_package_unit(LodeSplitPackage *self, uint64_t id, Dwarf_Die *out_die);
