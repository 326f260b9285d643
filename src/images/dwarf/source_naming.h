/* SPDX-License-Identifier: MIT */
/*
 * The source files that a binary on this machine names, and the folder in which they were compiled:
 * a profile's sources are trusted only as far as the recorded binary names them too.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeSourceNaming LodeSourceNaming;

/* The debug information of the binary at `path`, or of its separate file. NULL: there is none, or
 * the binary does not have this build-id (hex). */
LodeSourceNaming *lode_source_naming_open(const char *path, const char *build_id);
void lode_source_naming_close(LodeSourceNaming *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSourceNaming, lode_source_naming_close)

/*
 * Where the unit of the code at an address was compiled (DW_AT_comp_dir), if that unit names the
 * file, by this very path, as lode_binary_image_locate() gives it; else NULL, and "" where it names
 * the file but no folder. Borrowed.
 */
const char *lode_source_naming_folder(LodeSourceNaming *self, uint64_t address, const char *file);
